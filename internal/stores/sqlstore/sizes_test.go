package sqlstore

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// talk writes conversations the way the owner of a run does: a commit for each model and tools node.
type talk struct {
	tb     testing.TB
	s      *Store
	thread string
	user   string
	fence  store.Fence
	n      int64
	state  state.State
	now    time.Time
	rnd    *rand.Rand
}

// chat is a message in the form that clients speak.
type chat struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Content   string        `json:"content"`
	Name      string        `json:"name,omitempty"`
	CallID    string        `json:"tool_call_id,omitempty"`
	ToolCalls []toolCall    `json:"tool_calls,omitempty"`
	Usage     message.Usage `json:"usage_metadata,omitzero"`
}

type toolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	Type string          `json:"type"`
}

var (
	chats  = state.Log("messages", func(c chat) string { return c.ID })
	turns  = state.Reduced("turns", func(a, b int) (int, error) { return a + b, nil }).AsPrivate()
	notes  = state.LastValue[string]("note")
	schema = state.Schema{"messages": chats, "turns": turns, "note": notes}
)

func newTalk(tb testing.TB, s *Store, seed uint64) *talk {
	tk := &talk{tb: tb, s: s, now: time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC),
		rnd: rand.New(rand.NewPCG(seed, 1))}
	tk.thread, tk.user = tk.uuid(), ann().ID()
	tk.must(s.For(ann()).CreateThread(tb.Context(), store.Thread{ID: tk.thread, UserID: tk.user, Title: "A talk",
		CreatedAt: tk.now, UpdatedAt: tk.now}))
	return tk
}

func (tk *talk) must(err error) {
	if err != nil {
		tk.tb.Helper()
		tk.tb.Fatal(err)
	}
}

func (tk *talk) uuid() string {
	a, b := tk.rnd.Uint64(), tk.rnd.Uint64()
	return fmt.Sprintf("%08x-%04x-7%03x-%04x-%012x", a>>32, a&0xffff, a>>16&0xfff, b>>48, b&0xffffffffffff)
}

// text is n bytes that no compression makes much smaller.
func (tk *talk) text(n int) string {
	b := make([]byte, n)
	var bits uint64
	for i := range b {
		if i%10 == 0 { // ten times six bits
			bits = tk.rnd.Uint64()
		}
		b[i] = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789."[bits&63]
		bits >>= 6
	}
	return string(b)
}

// begin admits and claims the thread's next run.
func (tk *talk) begin(input string) {
	tk.now = tk.now.Add(time.Second)
	id := tk.uuid()
	req, err := json.Marshal(map[string]string{"input": input, "model": "some/model"})
	tk.must(err)
	_, err = tk.s.For(ann()).Admit(tk.tb.Context(), store.Admission{MustExist: true,
		Run: store.Run{ID: id, ThreadID: tk.thread, UserID: tk.user, Request: req, CreatedAt: tk.now,
			UpdatedAt: tk.now}})
	tk.must(err)
	tk.fence, err = tk.s.ClaimRun(tk.tb.Context(), id, "host:4711", 0, tk.now)
	tk.must(err)
	tk.n = 0
}

func (tk *talk) event(node string, d event.Data) event.Event {
	tk.n++
	return event.Event{ID: event.ID{Attempt: 1, N: tk.n}, Time: tk.now, Node: node, Data: d}
}

// step makes the step of one node that writes u.
func (tk *talk) step(node, next string, u state.Update, more ...event.Data) store.Step {
	tk.now = tk.now.Add(time.Second)
	st := store.Step{Next: next, Now: tk.now, Updates: []store.NodeUpdate{{Node: node, Update: u}},
		Events: []event.Event{tk.event(node, event.State{})}}
	for _, d := range more {
		st.Events = append(st.Events, tk.event(node, d))
	}
	var err error
	tk.state, _, err = tk.state.Apply(u)
	tk.must(err)
	st.State = tk.state
	return st
}

func (tk *talk) commit(st store.Step) {
	if _, err := tk.s.Commit(tk.tb.Context(), tk.fence, st); err != nil {
		tk.tb.Helper()
		tk.tb.Fatal(err)
	}
}

func (tk *talk) human(text string) {
	tk.commit(tk.step("input", "model", chats.Append(chat{ID: tk.uuid(), Type: "human", Content: text})))
}

// rewrite changes a note again and again: its updates are several times what is left of them, and worth a snapshot.
func (tk *talk) rewrite() {
	for range 6 {
		tk.commit(tk.step("model", "model", notes.Put(tk.text(8000))))
	}
}

// ai commits an answer, with a call of a tool unless it is the last one.
func (tk *talk) ai(text string, last bool) (callID string) {
	c := chat{ID: tk.uuid(), Type: "ai", Content: text, Usage: message.Usage{InputTokens: 1200, OutputTokens: 340,
		TotalTokens: 1540}}
	next := "end"
	if !last {
		callID, next = "call_"+tk.uuid()[:24], "tools"
		c.ToolCalls = []toolCall{{ID: callID, Name: "bash", Type: "tool_call",
			Args: json.RawMessage(`{"command":"ls -la /mnt/user-data/workspace"}`)}}
	}
	cuts := make([]event.Cut, len(text)/100) // a chunk of 100 bytes on average
	for i := range cuts {
		cuts[i].Text = 100
	}
	tk.commit(tk.step("model", next, chats.Append(c).With(turns.Put(1)),
		event.Message{MessageID: c.ID, First: tk.n, Chunks: cuts}))
	return callID
}

// tool commits a tool's intent, then its result with the step.
func (tk *talk) tool(callID, text string) {
	tk.now = tk.now.Add(time.Second)
	tk.commit(store.Step{Now: tk.now, Events: []event.Event{tk.event("tools", event.ToolStart{CallID: callID,
		MessageID: tk.uuid(), Tool: "bash", Args: json.RawMessage(`{"command":"ls -la /mnt/user-data/workspace"}`)})}})
	c := chat{ID: tk.uuid(), Type: "tool", Name: "bash", CallID: callID, Content: text}
	tk.commit(tk.step("tools", "model", chats.Append(c), event.ToolEnd{CallID: callID, MessageID: c.ID, Tool: "bash",
		Summary: "3 files", Millis: 12}))
}

func (tk *talk) end() {
	tk.now = tk.now.Add(time.Second)
	tk.commit(store.Step{Now: tk.now, Events: []event.Event{tk.event("", event.Run{Status: event.StatusSuccess})},
		Run: &store.RunChange{Status: event.StatusSuccess, Usage: json.RawMessage(`{"input_tokens":7200}`)}})
}

// agentRun is a run of six model calls and five tool calls.
func (tk *talk) agentRun() {
	question := tk.text(200)
	tk.begin(question)
	tk.human(question)
	for range 5 {
		tk.tool(tk.ai(tk.text(700), false), tk.text(700))
	}
	tk.ai(tk.text(700), true)
	tk.end()
}

// chainTurn is a run with a tool call and answers of 700 bytes as the whole chain of middlewares writes it: they put
// beside the text about as much again of what clients need, write the question twice, and remember the calls.
func (tk *talk) chainTurn() {
	tk.begin(tk.text(400))
	question := chat{ID: tk.uuid(), Type: "human", Content: tk.text(230)}
	steps := tk.step("__start__", "before_model", chats.Append(question))
	question.Content += tk.text(100)
	more := tk.step("before_agent", "before_model", chats.Append(question).With(notes.Put(tk.text(80))))
	more.Events[0].ID.N = steps.Events[0].ID.N + 1
	steps.Updates, steps.Events, steps.State = append(steps.Updates, more.Updates...),
		append(steps.Events, more.Events...), more.State
	tk.commit(steps)
	tk.tool(tk.ai(tk.text(1100), false), tk.text(1250))
	tk.commit(tk.step("before_model", "model", notes.Put(tk.text(240))))
	tk.ai(tk.text(1100), true)
	tk.end()
}

// turn is a run of one question and one answer.
func (tk *talk) turn(size int) {
	question := tk.text(size)
	tk.begin(question[:200]) // a long input is kept in the thread's folder or, as here, once
	tk.human(question)
	tk.ai(tk.text(size), true)
	tk.end()
}

// exec runs a statement on the connection of a writer that has nothing to do.
func (s *Store) exec(tb testing.TB, query string) {
	tb.Helper()
	if _, err := s.writer.workers[0].conn.ExecContext(tb.Context(), query); err != nil {
		tb.Fatal(err)
	}
}

// diskSize closes the store and returns how large its folder is.
func diskSize(tb testing.TB, s *Store, dir string) (n int64) {
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// TestSizes holds what a conversation costs on disk to a budget. The sizes do not depend on the machine.
func TestSizes(t *testing.T) {
	tests := []struct {
		name    string
		threads int
		write   func(*talk)
		budget  int64 // bytes per thread
	}{
		{"run of 6 answers and 5 tool calls", 20, func(tk *talk) { tk.agentRun() }, 30 << 10},
		{"60 turns with a tool result of 700 bytes", 1, func(tk *talk) {
			for range 60 {
				question := tk.text(100)
				tk.begin(question)
				tk.human(question)
				tk.tool(tk.ai(tk.text(300), false), tk.text(700))
				tk.ai(tk.text(300), true)
				tk.end()
			}
		}, 1 << 20},
		{"60 turns of the whole chain", 1, func(tk *talk) {
			for range 60 {
				tk.chainTurn()
			}
		}, 746_000}, // with the empty database a megabyte
		{"500 turns of 2 KB", 1, func(tk *talk) { // make bench writes 2,000
			for range 500 {
				tk.turn(1 << 10)
			}
		}, 5 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			empty, dir := t.TempDir(), t.TempDir()
			base := diskSize(t, open(t, empty), empty)
			s := open(t, dir)
			s.exec(t, "PRAGMA synchronous = off")
			for i := range tt.threads {
				tt.write(newTalk(t, s, uint64(i)))
			}
			got := (diskSize(t, s, dir) - base) / int64(tt.threads)
			t.Logf("%d bytes (an empty database has %d)", got, base)
			if got > tt.budget {
				t.Errorf("%d bytes, more than %d", got, tt.budget)
			}
		})
	}
}
