package frames_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

var (
	title   = state.LastValue[string]("title")
	counter = state.LastValue[int]("counter").AsPrivate()
	notes   = state.Reduced("notes", func(old, upd []string) ([]string, error) {
		return append(append([]string{}, old...), upd...), nil
	})
)

func schema() state.Schema {
	s, err := state.NewSchema(append(agent.Channels(), title, counter, notes)...)
	if err != nil {
		panic(err)
	}
	return s
}

var allModes = []frames.Mode{
	frames.Values, frames.Updates, frames.MessagesTuple, frames.Messages, frames.Custom, frames.Tasks,
	frames.Checkpoints, frames.Debug,
}

// script is a run as a list of events.
type script struct {
	evs  []event.Event
	id   event.ID
	cps  int
	ns   []string
	void map[event.ID]bool // live events that lead to nothing
	made map[event.ID]state.Update
}

func begin() *script {
	s := &script{id: event.ID{Attempt: 1}, void: make(map[event.ID]bool), made: make(map[event.ID]state.Update)}
	s.add("", event.Run{Status: event.StatusRunning})
	return s
}

func (s *script) add(node string, d event.Data) event.ID {
	s.id.N++
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(s.id.N) * time.Millisecond)
	s.evs = append(s.evs, event.Event{ID: s.id, Time: at, Node: node, Namespace: s.ns, Data: d})
	return s.id
}

// wrote is an update of a node.
type wrote struct {
	node string
	u    state.Update
}

// step commits updates, as one checkpoint.
func (s *script) step(next string, updates ...wrote) {
	s.cps++
	for i, w := range updates {
		raw, err := w.u.AppendJSON(nil)
		if err != nil {
			panic(err)
		}
		id := s.add(w.node, event.State{Writes: raw, Checkpoint: fmt.Sprintf("cp%d", s.cps), Next: next,
			Last: i == len(updates)-1})
		s.made[id] = w.u
	}
}

// here is the run as the process sees it that executes it: those of its updates that are chosen are not decoded.
func (s *script) here(chosen func() bool) []event.Event {
	evs := slices.Clone(s.evs)
	for i, ev := range evs {
		if d, ok := ev.Data.(event.State); ok && chosen() {
			d.Update = s.made[ev.ID]
			evs[i].Data = d
		}
	}
	return evs
}

// crash begins the next attempt.
func (s *script) crash() {
	s.id = event.ID{Attempt: s.id.Attempt + 1}
	s.add("", event.Run{Status: event.StatusRunning})
}

func (s *script) say(id string, pieces ...string) {
	for _, p := range pieces {
		s.add(agent.NodeModel, event.Chunk{MessageID: id, Text: p})
	}
}

func put(msgs ...message.Message) state.Update { return agent.Messages.Append(msgs...) }

func msg(role message.Role, id, text string) message.Message {
	m := message.New(role, text)
	m.ID = id
	return m
}

// answer is a finished message of the model.
func answer(id, text string, calls ...message.ToolCall) message.Message {
	m := message.Message{
		ID: id, Role: message.AI, ToolCalls: calls, Usage: &message.Usage{InputTokens: 5, OutputTokens: 2,
			TotalTokens: 7}, ResponseMetadata: message.Fields{"finish_reason": json.RawMessage(`"stop"`),
			"model_name": json.RawMessage(`"fake"`)},
	}
	if text != "" {
		m.Content = []message.Part{message.Text(text)}
	}
	return m
}

func toolCall(id, name, args string) message.ToolCall {
	return message.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

func toolResult(callID, text string) message.Message {
	m := msg(message.Tool, "result-"+callID, text)
	m.ToolCallID, m.Name, m.Status = callID, "ls", message.StatusSuccess
	return m
}

func config(modes ...frames.Mode) frames.Config {
	return frames.Config{
		RunID: "r1", ThreadID: "t1", Modes: modes, Schema: schema(),
		Metadata:      json.RawMessage(`{"assistant_id": "lead",` + "\n" + `"thread_id": "not this one"}`),
		ModelMetadata: json.RawMessage(`{"ls_provider": "fake"}`),
	}
}

// onBase is a run on a thread that has messages.
func onBase(c frames.Config, msgs ...message.Message) frames.Config {
	c.Base = func() (store.Checkpoint, error) {
		s, err := schema().Load(nil)
		if err == nil {
			s, _, err = s.Apply(put(msgs...).With(title.Put("Old"), counter.Put(3)))
		}
		return store.Checkpoint{ID: "cp0", Step: 7, State: s}, err
	}
	return c
}

// project returns the frames of a script for a reader that has seen what id names.
func project(t testing.TB, cfg frames.Config, evs []event.Event, from frames.FrameID) []frames.Frame {
	t.Helper()
	p := frames.New(cfg)
	p.SkipTo(from)
	var out []frames.Frame
	for _, ev := range evs {
		fs, err := p.Project(ev)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fs...)
	}
	return out
}

func sse(fs []frames.Frame) string {
	var b []byte
	for _, f := range fs {
		b = f.AppendSSE(b)
	}
	return string(b)
}

// names lists the frames in short form.
func names(fs []frames.Frame) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.ID+" "+f.Event)
	}
	return strings.Join(out, "\n")
}
