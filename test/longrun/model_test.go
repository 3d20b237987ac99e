//go:build linux

package longrun

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// usage is what the model has counted, in tokens.
type usage struct{ input, output int }

func (u *usage) add(more usage) { u.input, u.output = u.input+more.input, u.output+more.output }

// model is a server that speaks the streaming chat completions of OpenAI. It plays the script, step by step, and looks
// at each request.
type model struct {
	*httptest.Server

	window int // in tokens

	mu    sync.Mutex
	steps []step
	next  int
	last  *modelRequest // of the step that was asked for last
	began time.Time     // when the newest attempt that will be killed did

	faults    []string
	asked     int     // for steps
	summaries int     // that it wrote
	breaks    []int   // the steps whose requests did not continue the one before
	lost      []int   // of these, those for which there was no reason
	spent     []usage // on answers, by step
	summing   []usage // on summaries, by the step that they came before
	most      int     // the largest request
	images    []int   // that were sent, by step
	announced []int   // how often the uploads were, by step
}

func newModel(t *testing.T, window int) *model {
	t.Helper()
	m := &model{window: window, steps: script()}
	m.summing = make([]usage, len(m.steps)+1)
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *model) faultf(format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf("step %d: ", m.next)+fmt.Sprintf(format, args...))
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req modelRequest
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		return // the server was killed while it asked
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if req.Tools == nil {
		m.sumUp(w, &req)
		return
	}
	s, n, cutOff := m.look(&req)
	a := answer{w: w}
	if cutOff {
		a.send(map[string]any{"content": s.say}, nil)
		<-r.Context().Done() // until the server is killed
		return
	}
	m.longEnough(n)
	m.answer(&a, s, n, req.size())
}

// longEnough gives an attempt that is killed soon more than the second after which its row says what it took.
func (m *model) longEnough(n int) {
	if n == m.killed(speaking)-1 || n == m.killed(working) {
		m.mu.Lock()
		end := m.began.Add(1200 * time.Millisecond)
		m.mu.Unlock()
		time.Sleep(time.Until(end))
	}
}

// sumUp answers a request for a summary.
func (m *model) sumUp(w http.ResponseWriter, req *modelRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(req)
	m.summaries++
	text := fmt.Sprintf("Record %d: the user wants the report compiled and published; up to step %d all went well.",
		m.summaries, m.next)
	a := answer{w: w}
	a.send(map[string]any{"content": text}, nil)
	m.summing[m.next].add(a.end("stop", usage{req.size(), len(text) / 4}))
}

func (m *model) check(req *modelRequest) {
	for _, f := range req.faults() {
		m.faultf("%s", f)
	}
	size := req.size()
	m.most = max(m.most, size)
	if size > m.window {
		m.faultf("the request has %d tokens", size)
	}
	if !req.Stream || req.Model != "longrun" || req.Choice != nil {
		m.faultf("model %q, stream %v, tool_choice %s", req.Model, req.Stream, req.Choice)
	}
}

// look checks a request for a step and says what to do.
func (m *model) look(req *modelRequest) (s step, n int, cutOff bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(req)
	m.asked++
	if m.next == len(m.steps) {
		m.faultf("there is none")
		return step{say: "There is nothing more to do."}, -1, false
	}
	s, n = m.steps[m.next], m.next
	again := len(m.images) > n // the answer was cut off
	if again && len(req.Messages) != len(m.last.Messages) {
		m.faultf("the request that was sent again has %d messages, not %d", len(req.Messages), len(m.last.Messages))
	}
	m.follows(req, n)
	m.last = req
	if n == 0 || again {
		m.began = time.Now()
	}
	if !again {
		m.images, m.announced = append(m.images, req.images()), append(m.announced, req.count("<current_uploads>"))
	}
	return s, n, s.killed == speaking && !again
}

// follows compares a request with the one before it.
func (m *model) follows(req *modelRequest, n int) {
	if m.last == nil {
		return
	}
	if string(req.Tools) != string(m.last.Tools) {
		m.faultf("the tools have changed")
	}
	var want []string
	for i := range m.steps[n-1].calls {
		want = append(want, id(n-1, i))
	}
	if got := req.lastCalls(); !slices.Equal(got, want) {
		m.faultf("the request is not behind the answer before: its newest calls are %v, not %v", got, want)
	}
	if req.continues(m.last) {
		return
	}
	m.breaks = append(m.breaks, n)
	const shortened, record = "characters are left out here", "<durable_context_data>"
	newest := fmt.Sprintf("Record %d:", m.summaries)
	summedUp := req.count(record) == 1 && req.count(newest) == 1 && m.last.count(newest) == 0
	if !summedUp && req.count(shortened) <= m.last.count(shortened) {
		m.lost = append(m.lost, n)
	}
}

// answer gives the answer of a step, and goes on to the next one.
func (m *model) answer(a *answer, s step, n, size int) {
	for word := range strings.SplitAfterSeq(s.say, " ") {
		a.send(map[string]any{"content": word}, nil)
	}
	out, finish := len(s.say)/4, "stop"
	for i, c := range s.calls {
		args, err := json.Marshal(c.args)
		if err != nil {
			panic(err)
		}
		half := len(args) / 2
		a.send(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": id(n, i), "type": "function",
			"function": map[string]any{"name": c.tool, "arguments": string(args[:half])},
		}}}, nil)
		a.send(map[string]any{"tool_calls": []any{map[string]any{"index": i,
			"function": map[string]any{"arguments": string(args[half:])}}}}, nil)
		out, finish = out+len(args)/4, "tool_calls"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	spent := a.end(finish, usage{size, out})
	if n < 0 {
		return
	}
	m.next, m.spent = n+1, append(m.spent, spent)
}

// spentIn is what the model has counted for the steps from one to another, with summaries.
func (m *model) spentIn(from, to int) (u usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := from; i <= to; i++ {
		u.add(m.spent[i])
		u.add(m.summing[i])
	}
	return u
}

// certain is what the run with the kills has spent at least. The row of a run that is killed says what it took up to a
// second before, and an attempt takes longer (longEnough): of its calls the first is certain.
func (m *model) certain() usage {
	u := m.spentIn(m.killed(working)+1, m.ended(0))
	u.add(m.firstCall(0))
	u.add(m.firstCall(m.killed(speaking)))
	return u
}

// firstCall is what is known of the first call of an attempt that began with the step: its answer, but nothing if there
// was a summary before it. That belonged to the attempt that was cut off, or came first in this one.
func (m *model) firstCall(step int) usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.summing[step] != (usage{}) {
		return usage{}
	}
	return m.spent[step]
}

// answers is what the model has counted for all steps, without summaries.
func (m *model) answers() (u usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.spent {
		u.add(s)
	}
	return u
}

// killed is the step with that end.
func (m *model) killed(k killed) int {
	return slices.IndexFunc(m.steps, func(s step) bool { return s.killed == k })
}

// ended is the last step of a run, begun the first.
func (m *model) ended(run int) int {
	for i, s := range m.steps {
		if s.ends {
			run--
		}
		if run < 0 {
			return i
		}
	}
	return len(m.steps)
}

func (m *model) begun(run int) int {
	if run == 0 {
		return 0
	}
	return m.ended(run-1) + 1
}

// answer is an answer on its way.
type answer struct{ w http.ResponseWriter }

func (a *answer) chunk(fields map[string]any) {
	fields["id"], fields["object"], fields["model"] = "c", "chat.completion.chunk", "longrun"
	b, _ := json.Marshal(fields)
	fmt.Fprintf(a.w, "data: %s\n\n", b)
	_ = http.NewResponseController(a.w).Flush()
}

func (a *answer) send(delta any, finish any) {
	a.chunk(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (a *answer) end(finish string, u usage) usage {
	a.send(map[string]any{}, finish)
	a.chunk(map[string]any{"choices": []any{}, "usage": map[string]int{
		"prompt_tokens": u.input, "completion_tokens": u.output, "total_tokens": u.input + u.output,
	}})
	fmt.Fprint(a.w, "data: [DONE]\n\n")
	return u
}

// forgotten is how many compactions have put the plan out of sight: it was last written before the 12 messages that
// they keep.
func (m *model) forgotten() (n int) {
	for _, at := range m.breaks {
		kept := 0
		for i := at - 1; i >= 0; i-- {
			kept += 1 + len(m.steps[i].calls)
			if slices.ContainsFunc(m.steps[i].calls, func(c call) bool { return c.tool == "write_todos" }) {
				break
			}
		}
		if kept > 12 {
			n++
		}
	}
	return n
}
