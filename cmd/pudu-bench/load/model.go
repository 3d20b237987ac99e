package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// ModelConfig is where the model server listens and which tool it calls. The zero value is a free port of loopback and
// a look at the thread's workspace.
type ModelConfig struct {
	// Addr is host:port; default 127.0.0.1:0.
	Addr string
	// Tool and Args are the tool call of every step; %d in Args becomes the number of the step, since servers
	// stop an agent that repeats itself. Default glob in the workspace, for another name in each step.
	Tool, Args string
}

// Model is a server that speaks the streaming chat completions of OpenAI and does as the [Plan] in the user's message
// says. It looks at requests as little as it can and has its answers ready: it shares the machine with what it helps to
// measure. A POST to /tape has it keep the requests with a plan, a GET ends that and returns them. Close it.
type Model struct {
	URL string // such as http://127.0.0.1:4711/v1

	frames   *frames
	server   *http.Server
	handlers sync.WaitGroup
	ids      atomic.Uint64
	failed   chan error

	mu     sync.Mutex
	taping bool
	taped  [][]byte
	bytes  int // of taped
}

// StartModel starts a model server.
func StartModel(ctx context.Context, c ModelConfig) (*Model, error) {
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Tool == "" {
		c.Tool, c.Args = "glob", `{"description": "look", "path": "/mnt/user-data/workspace", "pattern": "*%d*"}`
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("start model server: %w", err)
	}
	m := &Model{
		URL:    "http://" + l.Addr().String() + "/v1",
		frames: makeFrames(c.Tool, c.Args),
		failed: make(chan error, 1),
	}
	m.server = &http.Server{Handler: http.HandlerFunc(m.handle), ReadHeaderTimeout: 10 * time.Second}
	go func() { m.failed <- m.server.Serve(l) }()
	return m, nil
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

// setTape begins or ends to keep the requests that come, and returns those that were kept.
func (m *Model) setTape(on bool) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	taped := m.taped
	m.taping, m.taped, m.bytes = on, nil, 0
	return taped
}

// keep tapes a request, if that is wanted and there is room.
func (m *Model) keep(body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taping && m.bytes+len(body) <= maxTape {
		m.taped, m.bytes = append(m.taped, bytes.Clone(body)), m.bytes+len(body)
	}
}

// Bounds of one request, and of those that are kept.
const (
	maxRequest = 64 << 20
	maxTape    = 256 << 20
)

func (m *Model) handle(w http.ResponseWriter, req *http.Request) {
	m.handlers.Add(1)
	defer m.handlers.Done()
	switch path := req.URL.Path; {
	case req.Method == http.MethodGet && path == "/v1/models":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"load","object":"model","created":0,"owned_by":"load"}]}`)
	case req.Method == http.MethodPost && path == "/v1/chat/completions":
		buf := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // it holds nothing else
		defer buffers.Put(buf)
		buf.Reset()
		if _, err := buf.ReadFrom(http.MaxBytesReader(w, req.Body, maxRequest)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.complete(w, buf)
	case path == "/tape":
		taped := m.setTape(req.Method == http.MethodPost)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(taped) // who has gone does not want it
	case req.Method == http.MethodGet && path == "/ok":
		fmt.Fprint(w, `{"ok":true}`)
	default:
		http.Error(w, "only /v1/chat/completions and /v1/models are here", http.StatusNotFound)
	}
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// complete answers a request: the next tool call of its plan, or the text at its end. A request without tools, such as
// one for a title, gets the text.
func (m *Model) complete(w http.ResponseWriter, request *bytes.Buffer) {
	body := request.Bytes()
	plan, rest, planned := readPlan(body)
	if planned {
		m.keep(body)
	}
	a := answer{frames: m.frames, plan: plan, step: -1}
	if done := countAnswers(rest); done < plan.Steps && bytes.Contains(body, []byte(`"tools"`)) {
		a.step = done
	}
	stream := bytes.Contains(body, []byte(`"stream":true`)) || bytes.Contains(body, []byte(`"stream": true`))
	request.Reset() // the answer's frames go where the request was
	a.out, a.id = request, m.ids.Add(1)
	if stream {
		a.stream(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, a.whole())
}

func countAnswers(b []byte) int {
	return bytes.Count(b, []byte(`"role":"assistant"`)) + bytes.Count(b, []byte(`"role": "assistant"`))
}

// answer is one answer under way.
type answer struct {
	frames *frames
	plan   Plan
	step   int // the tool call to make; -1 for the text
	id     uint64
	out    *bytes.Buffer
}

// stream sends the answer, each batch in a write of its own at its time: the clock of a model does not wait for who
// reads. It ends early when the reader has gone.
func (a *answer) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	start := time.Now()
	if !a.send(w, a.frames.role) {
		return
	}
	pieces, batch := a.plan.Tokens, a.plan.Batch
	if a.step >= 0 {
		pieces, batch = len(a.frames.calls[a.step]), 1
	}
	for i := 0; i < pieces; i += batch {
		end := min(i+batch, pieces)
		if a.plan.Delay > 0 {
			time.Sleep(time.Until(start.Add(time.Duration(end) * a.plan.Delay)))
		}
		for j := i; j < end; j++ {
			a.add(a.piece(j))
		}
		if !a.flush(w) {
			return
		}
	}
	if a.step >= 0 {
		a.add(a.frames.called)
	} else {
		a.add(a.frames.stop)
	}
	a.add(a.frames.usage)
	a.out.WriteString(frameDone)
	a.flush(w)
}

func (a *answer) piece(i int) []byte {
	if a.step >= 0 {
		return a.frames.calls[a.step][i]
	}
	return a.frames.token(i, a.plan.Tokens)
}

func (a *answer) send(w http.ResponseWriter, frame []byte) bool {
	a.add(frame)
	return a.flush(w)
}

// add puts a frame into the next write, with the answer's id in its hole.
func (a *answer) add(frame []byte) {
	a.out.WriteString(frameHead)
	digits := a.out.AvailableBuffer()
	digits = append(digits, hole...)
	n := strconv.AppendUint(make([]byte, 0, 20), a.id, 10)
	copy(digits[max(0, len(hole)-len(n)):], n)
	a.out.Write(digits)
	a.out.Write(frame[len(frameHead)+len(hole):])
}

func (a *answer) flush(w http.ResponseWriter) bool {
	_, err := w.Write(a.out.Bytes())
	a.out.Reset()
	return err == nil && http.NewResponseController(w).Flush() == nil
}

// whole is the answer to a request that does not ask for a stream.
func (a *answer) whole() string {
	message, finish := `{"role":"assistant","content":`+quote(answerText(a.plan.Tokens))+`}`, "stop"
	if a.step >= 0 {
		message, finish = `{"role":"assistant","content":null,"tool_calls":[`+a.frames.whole[a.step]+`]}`, "tool_calls"
	}
	return fmt.Sprintf(`{"id":"chatcmpl-%012d","object":"chat.completion","created":1767323045,"model":"load","choices":[{"index":0,"message":%s,`+
		`"finish_reason":%q}],"usage":{"prompt_tokens":1200,"completion_tokens":20,"total_tokens":1220}}`, a.id, message, finish)
}
