package frames_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

func newState(t testing.TB) state.State {
	t.Helper()
	s, err := schema().Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAppendSSE(t *testing.T) {
	f := frames.Frame{ID: "1-2", Event: "values", Data: []byte(`{}`)}
	if got, want := string(f.AppendSSE([]byte("x"))), "xevent: values\ndata: {}\nid: 1-2\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := string(frames.EndFrame().AppendSSE(nil)), "event: end\ndata: null\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A hidden message carries images for the model; clients get it without them. Others keep theirs.
func TestHiddenImagesAreLeftOut(t *testing.T) {
	image := message.Part{Type: message.PartImage, URL: "data:image/png;base64,AAAA"}
	hidden := message.Message{ID: "a", Role: message.Human, Content: []message.Part{message.Text("see"), image}}
	hidden.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true")}
	open := message.Message{ID: "b", Role: message.Human, Content: []message.Part{message.Text("see"), image}}
	open.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("false")}
	s := begin()
	s.step(agent.Done, wrote{"View.before_model", put(hidden, open)})
	for _, mode := range []frames.Mode{frames.Values, frames.Updates, frames.Checkpoints} {
		fs := project(t, config(mode), s.evs, frames.FrameID{})
		data := string(fs[len(fs)-1].Data)
		if strings.Count(data, "base64") != 1 || strings.Count(data, `"see"`) != 2 {
			t.Errorf("%s: %s", mode, data)
		}
	}
}

// The arguments of a tool call keep the line breaks that a model wrote between their members; frames cannot.
func TestFramesHaveOneLine(t *testing.T) {
	s := begin()
	s.step(agent.NodeTools, wrote{agent.NodeModel, put(answer("m1", "a\nb", toolCall("c", "ls", "{\n\"a\":\r\n1}")))})
	s.add(agent.NodeTools, event.Interrupt{InterruptID: "i", Value: json.RawMessage("{\n}")})
	for _, f := range project(t, config(allModes...), s.evs, frames.FrameID{}) {
		if bytes.ContainsAny(f.Data, "\r\n") || !json.Valid(f.Data) {
			t.Errorf("%s: %q", f.Event, f.Data)
		}
	}
}

// Without sub-agents only what they say to clients is shown, under the plain name.
func TestSubAgentsAreHidden(t *testing.T) {
	s := begin()
	scripts["sub-agent"](s)
	got := names(project(t, config(allModes...), s.evs, frames.FrameID{}))
	if strings.Contains(got, "|") || !strings.Contains(got, "1-3 custom") || strings.Contains(got, "1-4 ") ||
		strings.Contains(got, "1-5 ") {
		t.Error(got)
	}
}

// A reader who looks at nothing does not keep all updates of a long run apart.
func TestManyUpdatesUnseen(t *testing.T) {
	s := begin()
	for i := range 1000 {
		s.step(agent.NodeModel, wrote{"a", notes.Put([]string{fmt.Sprint(i)})}, wrote{"b", title.Put(fmt.Sprint(i))})
	}
	s.crash()
	fs := project(t, config(frames.Values), s.evs, frames.FrameID{Event: event.ID{Attempt: 1, N: 2001}})
	if len(fs) != 1 || !strings.Contains(string(fs[0].Data), `"998","999"],"title":"999"`) {
		t.Errorf("%d frames, the first %.200s", len(fs), sse(fs))
	}
}

func TestErrors(t *testing.T) {
	bad := config()
	bad.Metadata = json.RawMessage(`[1]`)
	badModel := config()
	badModel.ModelMetadata = json.RawMessage(`{`)
	noBase := config()
	noBase.Base = func() (store.Checkpoint, error) { return store.Checkpoint{}, errors.New("gone") }
	update := event.Event{ID: event.ID{Attempt: 1, N: 1}, Node: "x", Data: event.State{Writes: json.RawMessage(`[]`)}}
	tests := []struct {
		name string
		cfg  frames.Config
		ev   event.Event
		want string
	}{
		{"metadata", bad, update, "frames: Config.Metadata: it is no JSON object"},
		{"model metadata", badModel, update, "frames: Config.ModelMetadata: it is no JSON object"},
		{"base", noBase, update, "project event 1-1 of run r1: load what the run began on: gone"},
		{"update", config(), event.Event{ID: event.ID{Attempt: 1, N: 1},
			Data: event.State{Writes: json.RawMessage(`{`)}}, "project event 1-1 of run r1: decode update"},
		{"unknown item", config(), event.Event{ID: event.ID{Attempt: 1, N: 1},
			Data: event.State{Writes: json.RawMessage(`[{"c":"messages","op":"remove","v":["x"]}]`)}}, "no such item"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := frames.New(tt.cfg)
			for range 2 { // it stays broken
				if _, err := p.Project(tt.ev); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %s", err, tt.want)
				}
			}
		})
	}
}

func TestUnknownEventsAreNoFrames(t *testing.T) {
	p := frames.New(config(allModes...))
	for _, d := range []event.Data{nil, event.Unknown{KindName: "new"}, event.Progress{Text: "x"},
		event.Run{Status: event.StatusPending}} {
		if fs, err := p.Project(event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: d}); err != nil || len(fs) > 0 {
			t.Errorf("%v: %v, %v", d, fs, err)
		}
	}
}

// Base is loaded when it is needed, and once.
func TestBaseIsLoadedOnce(t *testing.T) {
	s := begin()
	scripts["parallel tools"](s)
	for mode, want := range map[frames.Mode]int{frames.Values: 1, frames.MessagesTuple: 1, frames.Tasks: 1,
		frames.Custom: 0, frames.Updates: 0} {
		n := 0
		cfg := onBase(config(mode))
		load := cfg.Base
		cfg.Base = func() (store.Checkpoint, error) { n++; return load() }
		project(t, cfg, s.evs, frames.FrameID{})
		if n != want {
			t.Errorf("%s: loaded %d times, want %d", mode, n, want)
		}
	}
}

// events are the frames' events and ids in short form, without the first and the last one.
func events(t *testing.T, s *script, cfg frames.Config) string {
	t.Helper()
	s.add("", event.Run{Status: event.StatusSuccess})
	fs := project(t, cfg, s.evs, frames.FrameID{})
	return strings.ReplaceAll(names(fs[1:len(fs)-1]), "\n", ", ")
}

func TestWhatIsShownOnce(t *testing.T) {
	old := msg(message.AI, "a0", "Hello!")
	tests := []struct {
		name string
		mode frames.Mode
		play func(s *script)
		want string
	}{
		{"messages that the client gave are its own", frames.MessagesTuple, func(s *script) {
			s.step(agent.NodeModel, wrote{agent.NodeInput, put(msg(message.AI, "given", "by the client"))})
		}, ""},
		{"messages that a new list keeps are known", frames.MessagesTuple, func(s *script) {
			s.step(agent.NodeModel, wrote{"Summary.before_model",
				agent.Messages.Reset(old, msg(message.AI, "new", "x"))})
		}, "1-2 messages"},
		{"values after tools wait for the last, whatever that writes; first comes the state that the run goes on with",
			frames.Values, func(s *script) {
				s.step(agent.NodeModel, wrote{agent.NodeTools, put(toolResult("c0", "a"))},
					wrote{agent.NodeTools, counter.Put(9)})
			}, "1-2 values, 1-3 values"},
		{"an update that clients cannot see is no new state", frames.Values, func(s *script) {
			s.step(agent.NodeModel, wrote{agent.NodeInput, put(msg(message.Human, "h1", "hi"))})
			s.step(agent.NodeModel, wrote{"x", counter.Put(9)})
		}, "1-2 values"},
		{"a run that goes on without input shows on what", frames.Values, func(s *script) {
			s.add(agent.NodeTools, event.ToolStart{CallID: "c0"})
			s.add(agent.NodeTools, event.Interrupt{InterruptID: "i", CallID: "c0", Value: json.RawMessage("1")})
		}, "1-2 values, 1-3 values"},
		{"a run that has nothing to do shows what there is", frames.Values, func(*script) {}, "1-2.1 values"},
		{"a run of which nobody wants the state", frames.Custom, func(s *script) {
			s.add(agent.NodeTools, event.ToolStart{CallID: "c0"})
		}, ""},
		{"a tool call that never started begins with its result", frames.Tasks, func(s *script) {
			s.add(agent.NodeTools, event.ToolStart{CallID: "c1"})
			s.step(agent.NodeModel, wrote{agent.NodeTools, put(toolResult("c0", "a"))},
				wrote{agent.NodeTools, put(toolResult("c1", "b"))})
		}, "1-2 tasks, 1-3.1 tasks, 1-3 tasks, 1-4 tasks"},
		{"a result is not shown again with its step", frames.MessagesTuple, func(s *script) {
			u := put(toolResult("c0", "a"))
			raw, _ := u.MarshalJSON()
			s.add(agent.NodeTools, event.ToolEnd{CallID: "c0", Writes: raw})
			s.step(agent.NodeModel, wrote{agent.NodeTools, u})
		}, "1-2 messages"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := begin()
			tt.play(s)
			if got := events(t, s, onBase(config(tt.mode), old)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A run that only lacks a delivery ends without an error on the stream: its answer is whole.
func TestNoErrorOfADelivery(t *testing.T) {
	s := begin()
	s.add("", event.Run{Status: event.StatusError, Error: store.Undelivered})
	if got := names(project(t, config(), s.evs, frames.FrameID{})); got != "1-1 metadata\n1-2 end" {
		t.Error(got)
	}
}

// That an earlier run ended with a failed model does not hide why this one failed.
func TestErrorAfterAnOldFallback(t *testing.T) {
	old := msg(message.AI, "a0", "The model is not available.")
	old.Kwargs = message.Fields{message.KeyErrorFallback: json.RawMessage("true")}
	s := begin()
	s.add("", event.Run{Status: event.StatusError, Error: "the disk is full"})
	if got := names(project(t, onBase(config(), old), s.evs,
		frames.FrameID{})); got != "1-1 metadata\n1-2.1 error\n1-2 end" {
		t.Error(got)
	}
}
