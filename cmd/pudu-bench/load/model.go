package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Model is a server that speaks the streaming chat completions of OpenAI and does as the [Plan] in the user's message
// says. It looks at requests as little as it can and has its answers ready: it shares the machine with what it helps to
// measure. GET /tape returns the requests with a plan that have come since it was asked last. Close it.
type Model struct {
	URL string // such as http://127.0.0.1:4711; the base URL of the API is below it, at /v1

	// tokens and calls are the deltas of the longest answer, and of each step's call in pieces as models send them.
	tokens   []string
	calls    [][]string
	server   *http.Server
	handlers sync.WaitGroup
	ids      atomic.Uint64
	failed   chan error

	mu    sync.Mutex
	taped [][]byte
}

const (
	// lastToken ends every answer: a client that finds it in the state knows that the run came to its end.
	lastToken  = "load-done"
	argsPiece  = 4        // letters of arguments per frame, about a token
	maxRequest = 64 << 20 // bytes
	maxTape    = 64       // requests
)

// StartModel starts a model server at host:port; port 0 is a free one.
func StartModel(ctx context.Context, addr string) (*Model, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("start model server: %w", err)
	}
	m := &Model{URL: "http://" + l.Addr().String(), failed: make(chan error, 1)}
	for i := range MaxTokens {
		m.tokens = append(m.tokens, `{"content":"`+tokenText(i)+`"}`)
	}
	for step := range MaxSteps {
		m.calls = append(m.calls, callPieces(step))
	}
	m.server = &http.Server{Handler: m.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() { m.failed <- m.server.Serve(l) }()
	return m, nil
}

// tokenText is token i of an answer, but for its last.
func tokenText(i int) string { return fmt.Sprintf("t%05d ", i) }

// answerText is the whole text of an answer of n tokens.
func answerText(n int) string {
	var b strings.Builder
	for i := range n - 1 {
		b.WriteString(tokenText(i))
	}
	return b.String() + lastToken
}

// callPieces are the deltas of a look at the thread's workspace, for another name in each step, since servers stop an
// agent that repeats itself.
func callPieces(step int) []string {
	pieces := []string{fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function",`+
		`"function":{"name":"glob","arguments":""}}]}`, step)}
	args := fmt.Sprintf(`{"description": "look", "path": "/mnt/user-data/workspace", "pattern": "*%d*"}`, step+1)
	for piece := range slices.Chunk([]byte(args), argsPiece) {
		pieces = append(pieces, fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`, piece))
	}
	return pieces
}

// Close ends the server and every answer that it is giving.
func (m *Model) Close() error {
	err := m.server.Close()
	if served := <-m.failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	m.handlers.Wait()
	return err
}

func (m *Model) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	mux.HandleFunc("GET /tape", func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		taped := m.taped
		m.taped = nil
		m.mu.Unlock()
		_ = json.NewEncoder(w).Encode(taped) // who has gone does not want it
	})
	return mux
}

var requests = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// complete answers a request: the next tool call of its plan, or the text at its end. A request without tools, such as
// one for a title, gets the text.
func (m *Model) complete(w http.ResponseWriter, req *http.Request) {
	m.handlers.Add(1)
	defer m.handlers.Done()
	buf := requests.Get().(*bytes.Buffer) //nolint:forcetypeassert // it holds nothing else
	defer requests.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, req.Body, maxRequest)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body := buf.Bytes()
	plan, rest, planned := readPlan(body)
	if planned {
		m.keep(body)
	}
	done := bytes.Count(rest, []byte(`"role":"assistant"`)) + bytes.Count(rest, []byte(`"role": "assistant"`))
	a := answer{w: w, out: buf, id: m.ids.Add(1), deltas: append(slices.Clip(m.tokens[:plan.Tokens-1]), `{"content":"`+
		lastToken+`"}`),
		finish: `"stop"`, batch: plan.Batch, delay: plan.Delay}
	if done < plan.Steps && bytes.Contains(body, []byte(`"tools"`)) {
		a.deltas, a.finish, a.batch = m.calls[done], `"tool_calls"`, 1
	}
	if !bytes.Contains(body, []byte(`"stream":true`)) && !bytes.Contains(body, []byte(`"stream": true`)) {
		http.Error(w, "this model only streams: ask for it with \"stream\": true", http.StatusBadRequest)
		return
	}
	buf.Reset() // the answer's frames go where the request was
	a.stream()
}

// keep tapes a request, if there is room.
func (m *Model) keep(body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.taped) < maxTape {
		m.taped = append(m.taped, bytes.Clone(body))
	}
}

// answer is one answer under way.
type answer struct {
	w      http.ResponseWriter
	out    *bytes.Buffer // what is written next
	id     uint64        // its own: servers take it for the id of the message
	begin  string        // of each frame
	deltas []string
	finish string
	batch  int // deltas in a write
	delay  time.Duration
}

// stream sends the answer, each batch in a write of its own at its time: the clock of a model does not wait for who
// reads. It ends early when the reader has gone.
func (a *answer) stream() {
	a.begin = fmt.Sprintf(`data: {"id":"chatcmpl-%012d","object":"chat.completion.chunk","created":1767323045,`+
		`"model":"load","choices":[`, a.id)
	a.w.Header().Set("Content-Type", "text/event-stream")
	start := time.Now()
	a.add(`{"role":"assistant","content":""}`, "null")
	sent := 0
	for batch := range slices.Chunk(a.deltas, a.batch) {
		if !a.flush() {
			return
		}
		sent += len(batch)
		if a.delay > 0 {
			time.Sleep(time.Until(start.Add(time.Duration(sent) * a.delay)))
		}
		for _, delta := range batch {
			a.add(delta, "null")
		}
	}
	if !a.flush() {
		return
	}
	a.add(`{}`, a.finish)
	a.out.WriteString(a.begin + `],"usage":{"prompt_tokens":1200,"completion_tokens":20,"total_tokens":1220}}` +
		"\n\ndata: [DONE]\n\n")
	a.flush()
}

// add puts a frame into the next write.
func (a *answer) add(delta, finish string) {
	for _, s := range []string{a.begin, `{"index":0,"delta":`, delta, `,"finish_reason":`, finish, "}]}\n\n"} {
		a.out.WriteString(s)
	}
}

func (a *answer) flush() bool {
	_, err := a.w.Write(a.out.Bytes())
	a.out.Reset()
	return err == nil && http.NewResponseController(a.w).Flush() == nil
}
