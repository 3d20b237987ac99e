//go:build linux

package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// plan is what the model does with a message of the user that consists of it: so many calls of ls, then a command, then
// so many words, one every few milliseconds, and then words until the gate is open.
type plan struct {
	Plan    string `json:"plan"` // its name, for asked
	Tools   int    `json:"tools,omitempty"`
	Call    string `json:"call,omitempty"` // a gate before each of them
	Bash    string `json:"bash,omitempty"`
	Tell    string `json:"tell,omitempty"`   // a URL that a job of the newer program tells of the run
	Fact    string `json:"fact,omitempty"`   // "I work on NAME.", which the memory is to learn
	Before  string `json:"before,omitempty"` // a gate before the first word
	Words   int    `json:"words,omitempty"`
	Delay   int    `json:"delay,omitempty"` // milliseconds
	Hold    string `json:"hold,omitempty"`  // a gate at the end
	Size    int    `json:"size,omitempty"`  // bytes of one more word
	Padding string `json:"padding,omitempty"`
}

func (p plan) text() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// model is a server that speaks the streaming chat completions of OpenAI.
type model struct {
	*httptest.Server

	mu    sync.Mutex
	gates map[string]chan struct{}
	calls map[string]int // by the plan's name
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{gates: make(map[string]chan struct{}), calls: make(map[string]int)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *model) gate(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gates[name] == nil {
		m.gates[name] = make(chan struct{})
	}
	return m.gates[name]
}

// open lets the calls go on that wait, or will wait, at a gate.
func (m *model) open(name string) { close(m.gate(name)) }

// asked is how many calls there were for a plan.
func (m *model) asked(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[name]
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// read finds the plan and how many answers the model has given to it. What users say one after the other may have
// become one message; the last plan is the one that holds.
func read(msgs []chatMessage) (p plan, answers int) {
	for _, msg := range msgs {
		content := string(msg.Content)
		at := strings.LastIndex(content, `{\"plan\":`)
		switch {
		case msg.Role == "assistant":
			answers++
		case msg.Role == "user" && at >= 0:
			var whole string
			if json.Unmarshal([]byte(`"`+content[at:]), &whole) != nil { // the content is a list of parts
				whole = strings.ReplaceAll(content[at:], `\"`, `"`)
			}
			p, answers = plan{}, 0
			_ = json.NewDecoder(strings.NewReader(whole)).Decode(&p) // what follows is not ours
		}
	}
	return p, answers
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []chatMessage     `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p, n := read(req.Messages)
	asked, subject := askedToRemember(body)
	if asked {
		p.Plan = memoryOf(subject)
	}
	m.mu.Lock()
	m.calls[p.Plan]++
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	s := speech{w: w, r: r, m: m}
	s.flush()
	switch {
	case asked:
		s.remember(subject)
	case p.Tell != "" && n == 0:
		s.call("tell_later", map[string]string{"to": p.Tell})
	case n < p.Tools && p.Call != "" && !s.pass(m.gate(p.Call), 0): // who asked has gone
	case n < p.Tools:
		s.call("ls", map[string]string{"description": fmt.Sprint("look ", n),
			"path": fmt.Sprintf("/mnt/user-data/%s", []string{"workspace", "uploads", "outputs"}[n%3])})
	case n == p.Tools && p.Bash != "":
		s.call("bash", map[string]string{"description": "work", "command": p.Bash})
	default:
		s.speak(p)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// speech is one answer.
type speech struct {
	w http.ResponseWriter
	r *http.Request
	m *model
	n int
}

func (s *speech) flush() { _ = http.NewResponseController(s.w).Flush() }

func (s *speech) send(delta any, finish any) {
	b, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "test", "choices": []any{
		map[string]any{"index": 0, "delta": delta, "finish_reason": finish},
	}})
	fmt.Fprintf(s.w, "data: %s\n\n", b)
	s.flush()
}

func (s *speech) call(name string, args map[string]string) {
	b, _ := json.Marshal(args)
	s.send(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
		"index": 0, "id": fmt.Sprintf("call_%d", time.Now().UnixNano()), "type": "function",
		"function": map[string]any{"name": name, "arguments": string(b)},
	}}}, nil)
	s.send(map[string]any{}, "tool_calls")
}

// learnable is what the memory is to learn from a message.
var learnable = regexp.MustCompile(`I work on ([\w-]+)\.`)

// askedToRemember reports whether a request asks what there is to remember, and what its conversation says that is
// worked on; empty is nothing.
func askedToRemember(body []byte) (asked bool, subject string) {
	if found := learnable.FindSubmatch(body); found != nil {
		subject = string(found[1])
	}
	return bytes.Contains(body, []byte("You keep the long-term memory")), subject
}

// memoryOf is the plan that questions of the memory count for.
func memoryOf(subject string) string { return "memory of " + subject }

// remember answers the question of what there is to remember.
func (s *speech) remember(subject string) {
	facts := []any{}
	if subject != "" {
		facts = append(facts, map[string]any{
			"content": "Works on " + subject, "quote": "I work on " + subject, "category": "context", "confidence": 0.9,
			"scope": "user", "durability": "durable", "authority": "descriptive",
		})
	}
	b, _ := json.Marshal(map[string]any{"newFacts": facts})
	s.send(map[string]any{"content": string(b)}, "stop")
}

func (s *speech) speak(p plan) {
	if p.Before != "" && !s.pass(s.m.gate(p.Before), 0) {
		return
	}
	for range p.Words {
		s.word()
		if p.Delay > 0 && !s.pass(nil, time.Duration(p.Delay)*time.Millisecond) {
			return
		}
	}
	for p.Hold != "" && s.r.Context().Err() == nil {
		s.word()
		if s.pass(s.m.gate(p.Hold), 10*time.Millisecond) {
			break
		}
	}
	if p.Size > 0 {
		s.send(map[string]any{"content": strings.Repeat("x", p.Size)}, nil)
	}
	s.send(map[string]any{"content": "."}, "stop")
}

func (s *speech) word() {
	s.n++
	s.send(map[string]any{"content": fmt.Sprintf("w%d ", s.n)}, nil)
}

// pass waits for a gate, or some time without one; false means neither came: the caller has gone, or the time is up
// before the gate opened. No time is for ever.
func (s *speech) pass(gate chan struct{}, d time.Duration) bool {
	var timer <-chan time.Time
	if d > 0 {
		timer = time.After(d)
	}
	select {
	case <-gate:
		return true
	case <-timer:
		return gate == nil
	case <-s.r.Context().Done():
		return false
	}
}
