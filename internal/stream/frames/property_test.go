package frames_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// writer makes a random run that could have happened.
type writer struct {
	*script
	t   *rapid.T
	log []string // ids of the messages
	n   int
}

func randomRun(t *rapid.T) *script {
	w := &writer{script: begin(), t: t, log: []string{"h0", "a0"}}
	w.step(agent.NodeModel, w.hook(agent.NodeInput))
	parts := []func(){w.model, w.model, w.tools, w.tools, w.hooks, w.talk, w.crash, w.subAgent}
	for range rapid.IntRange(0, 8).Draw(t, "parts") {
		parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")]()
	}
	ends := []event.Run{{Status: event.StatusSuccess}, {Status: event.StatusError, Error: "text"},
		{Status: event.StatusInterrupted}}
	w.add("", rapid.SampledFrom(ends).Draw(t, "end"))
	return w.script
}

func (w *writer) name(prefix string) string {
	w.n++
	return fmt.Sprint(prefix, w.n)
}

func (w *writer) odds(of int) bool { return rapid.IntRange(1, of).Draw(w.t, "odds") == 1 }

// hook is a visible or private update of some node.
func (w *writer) hook(node string) wrote {
	var u state.Update
	switch rapid.IntRange(0, 6).Draw(w.t, "update") {
	case 0:
		u = counter.Put(w.n)
	case 1:
		u = title.Put("two\nlines")
	case 2:
		u = notes.Put([]string{"note"}).With(title.Delete())
	case 3:
		id := w.name("s")
		u, w.log = agent.Messages.Reset(msg(message.Human, id, "summary")), []string{id}
	case 4:
		if len(w.log) > 0 {
			u, w.log = agent.Messages.Remove(w.log[0]), w.log[1:]
		}
	case 5:
		if len(w.log) > 0 {
			u = agent.Messages.Replace(msg(message.AI, w.log[len(w.log)-1], "other words"))
		}
	case 6:
		// one that was removed may come back
		id := rapid.SampledFrom([]string{"h0", "again", w.name("p")}).Draw(w.t, "id")
		if !slices.Contains(w.log, id) {
			w.log = append(w.log, id)
		}
		u = put(msg(message.AI, id, "by hand"))
	}
	if len(u) == 0 {
		u = counter.Put(-1)
	}
	return wrote{node, u}
}

func (w *writer) hooks() {
	var all []wrote
	for range rapid.IntRange(1, 3).Draw(w.t, "hooks") {
		all = append(all, w.hook(w.name("Some.before_model")))
	}
	w.step(agent.NodeModel, all...)
}

func (w *writer) talk() {
	w.add("x", event.Custom{Value: json.RawMessage("{\n\"a\":\r1}")})
	w.add(agent.NodeTools, event.Progress{CallID: "c", Text: "…"})
	if w.odds(2) {
		w.add(agent.NodeTools, event.Interrupt{InterruptID: w.name("i"), CallID: w.name("c"),
			Value: json.RawMessage("[\n]")})
	} else {
		w.add("", event.Interrupt{})
	}
}

// model streams a message that is committed, changed, withdrawn or lost.
func (w *writer) model() {
	id := w.name("m")
	var b message.Builder
	var live []event.ID
	for range rapid.IntRange(0, 5).Draw(w.t, "chunks") {
		c := event.Chunk{MessageID: id}
		switch rapid.IntRange(0, 2).Draw(w.t, "chunk") {
		case 0:
			c.Text = rapid.SampledFrom([]string{"a", "ö\n", "\"🦌", "\xf0\x9f\xa6"}).Draw(w.t, "text")
		case 1:
			c.Reasoning = "hm "
		case 2:
			c.ToolCalls = []event.ToolCallChunk{{Index: rapid.IntRange(0, 1).Draw(w.t, "index"), ID: "c", Name: "ls",
				Args: `{}`}}
		}
		b.Add(message.Chunk{Text: c.Text, Reasoning: c.Reasoning, ToolCalls: builderCalls(c)})
		live = append(live, w.add(agent.NodeModel, c))
	}
	switch end := rapid.IntRange(0, 4).Draw(w.t, "end of message"); end {
	case 0:
		w.add(agent.NodeModel, event.Discard{MessageID: id, Reason: "cut"})
	case 1:
		w.crash()
	default:
		m := b.Message()
		m.ID = id
		if end == 2 {
			m.Content = []message.Part{message.Text("changed")}
		}
		all := []wrote{{agent.NodeModel, put(m).With(counter.Put(w.n))}}
		w.log = append(w.log, id)
		if w.odds(2) {
			all = append(all, w.hook("Some.after_model"))
		}
		w.step(agent.NodeTools, all...)
		w.add(agent.NodeModel, event.Message{MessageID: id})
		return
	}
	for _, id := range live {
		w.void[id] = true
	}
}

func builderCalls(c event.Chunk) (out []message.ToolCallChunk) {
	for _, tc := range c.ToolCalls {
		out = append(out, message.ToolCallChunk{Index: tc.Index, ID: tc.ID, Name: tc.Name, Args: tc.Args})
	}
	return out
}

// tools runs calls side by side; some results are kept before the step is committed.
func (w *writer) tools() {
	var all []wrote
	var ends []event.Data
	for range rapid.IntRange(1, 3).Draw(w.t, "calls") {
		id := w.name("c")
		if !w.odds(4) {
			w.add(agent.NodeTools, event.ToolStart{CallID: id, Tool: "ls", Args: json.RawMessage("{\n}")})
		}
		m := toolResult(id, "done")
		u := put(m)
		w.log = append(w.log, m.ID)
		if w.odds(3) {
			u = u.With(notes.Put([]string{id}))
		}
		all = append(all, wrote{agent.NodeTools, u})
		if w.odds(2) {
			raw, _ := u.AppendJSON(nil)
			w.add(agent.NodeTools, event.ToolEnd{CallID: id, Tool: "ls", Writes: raw})
		} else {
			ends = append(ends, event.ToolEnd{CallID: id, Tool: "ls"})
		}
		if w.odds(6) {
			w.crash()
		}
	}
	w.step(agent.NodeBeforeModel, all...)
	for _, d := range ends {
		w.add(agent.NodeTools, d)
	}
}

func (w *writer) subAgent() {
	log, ns := w.log, w.ns
	w.log, w.ns = nil, []string{"tools:c1"}
	w.add("x", event.Custom{Value: json.RawMessage(`{"sub":1}`)})
	id := w.name("sub")
	w.say(id, "in", "side")
	w.step(agent.Done, wrote{agent.NodeModel, put(answer(id, "inside"))})
	w.log, w.ns = log, ns
}

func randomConfig(t *rapid.T) frames.Config {
	modes := rapid.SliceOfDistinct(rapid.SampledFrom(allModes), func(m frames.Mode) frames.Mode { return m }).
		Draw(t, "modes")
	cfg := config(modes...)
	cfg.Subgraphs = rapid.Bool().Draw(t, "subgraphs")
	return onBase(cfg, msg(message.Human, "h0", "hello"), msg(message.AI, "a0", "Hello!"))
}

// Whatever the run, the modes and the place: who comes back gets exactly the frames that follow.
func TestResumeGivesExactlyTheRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, cfg := randomRun(rt), randomConfig(rt)
		all := project(t, cfg, s.evs, frames.FrameID{})
		for i, f := range all {
			id, ok := frames.ParseFrameID(f.ID)
			if !ok {
				rt.Fatalf("frame %d has the id %q", i, f.ID)
			}
			if d := cmp.Diff(sse(all[i+1:]), sse(project(t, cfg, s.evs, id))); d != "" {
				rt.Fatalf("after %s (-want +got)\n%s", f.ID, d)
			}
		}
	})
}

// Every frame is one line of JSON and has an id of its own; a run begins with "metadata" and ends with "end", once
// each.
func TestFramesAreWellFormed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, cfg := randomRun(rt), randomConfig(rt)
		all := project(t, cfg, s.evs, frames.FrameID{})
		seen := make(map[string]bool)
		for i, f := range all {
			if !json.Valid(f.Data) || bytes.ContainsAny(f.Data, "\n\r") || f.ID == "" || seen[f.ID] {
				rt.Fatalf("frame %d: id %q, %s %q", i, f.ID, f.Event, f.Data)
			}
			seen[f.ID] = true
			if (f.Event == "metadata") != (i == 0) || (f.Event == "end") != (i == len(all)-1) {
				rt.Fatalf("frame %d of %d is %s", i, len(all), f.Event)
			}
		}
	})
}

// Pieces that came to nothing are in nobody's log. Who reads later does not see them, and all else as the others do.
func TestLateReaderSeesTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, cfg := randomRun(rt), randomConfig(rt)
		var kept []event.Event
		for _, ev := range s.evs {
			if !s.void[ev.ID] {
				kept = append(kept, ev)
			}
		}
		var want []frames.Frame
		for _, f := range project(t, cfg, s.evs, frames.FrameID{}) {
			if id, _ := frames.ParseFrameID(f.ID); !s.void[id.Event] {
				want = append(want, f)
			}
		}
		if d := cmp.Diff(sse(want), sse(project(t, cfg, kept, frames.FrameID{}))); d != "" {
			rt.Fatalf("(-live +late)\n%s", d)
		}
	})
}

// Who is given updates as they were made sees what those see who decode them.
func TestUpdatesNeedNotBeDecoded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, cfg := randomRun(rt), randomConfig(rt)
		if rapid.Bool().Draw(rt, "channels that are not declared, or not so") {
			cfg.Schema = maps.Clone(cfg.Schema)
			delete(cfg.Schema, counter.Name())
			cfg.Schema[title.Name()] = state.LastValue[string](title.Name())
		}
		want := project(t, cfg, s.evs, frames.FrameID{})
		some := s.here(func() bool { return rapid.Bool().Draw(rt, "decoded") })
		if d := cmp.Diff(sse(want), sse(project(t, cfg, some, frames.FrameID{}))); d != "" {
			rt.Fatalf("(-decoded +made)\n%s", d)
		}
		if len(want) == 0 {
			return
		}
		from, _ := frames.ParseFrameID(rapid.SampledFrom(want).Draw(rt, "frame").ID)
		all := s.here(func() bool { return true })
		if d := cmp.Diff(sse(project(t, cfg, s.evs, from)), sse(project(t, cfg, all, from))); d != "" {
			rt.Fatalf("after %v (-decoded +made)\n%s", from, d)
		}
	})
}

// The last values are the visible part of the state that the updates make.
func TestValuesAreTheState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := randomRun(rt)
		cfg := onBase(config(frames.Values), msg(message.Human, "h0", "hello"), msg(message.AI, "a0", "Hello!"))
		base, err := cfg.Base()
		if err != nil {
			rt.Fatal(err)
		}
		st := base.State
		for _, ev := range s.evs {
			if d, ok := ev.Data.(event.State); ok && len(ev.Namespace) == 0 {
				if st, err = st.Replay(d.Writes); err != nil {
					rt.Fatal(err)
				}
			}
		}
		want, err := st.Values()
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range threadstate.Empties() { // none is written
			want[c.Channel] = c.Raw
		}
		var got map[string]json.RawMessage
		for _, f := range project(t, cfg, s.evs, frames.FrameID{}) {
			if f.Event == "values" && !bytes.Contains(f.Data, []byte("__interrupt__")) {
				got = nil
				if err := json.Unmarshal(f.Data, &got); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if len(got) > 0 && !same(want, got) {
			rt.Fatalf("want %s\ngot %s", want, got)
		}
	})
}

func same(a, b map[string]json.RawMessage) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

func TestFrameID(t *testing.T) {
	for _, s := range []string{"1-1", "12-345.6"} {
		if id, ok := frames.ParseFrameID(s); !ok || id.String() != s {
			t.Errorf("%q was read as %v, %v", s, id, ok)
		}
	}
	for _, s := range []string{"", "-1", "0", "0-0", "0-1", "1-0", "1-1.0", "1-1.", "1-1.01", "1-1.+1", "1-1.1.1",
		"1.1-1", "1795258024042-3", "$", "x"} {
		if id, ok := frames.ParseFrameID(s); ok || id != (frames.FrameID{}) {
			t.Errorf("%q was read as %v", s, id)
		}
	}
}

func FuzzParseFrameID(f *testing.F) {
	for _, s := range []string{"1-1", "1-2.3", "-1", "1-1.0", "1795258024042-3", "1-9223372036854775807.2147483647"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, ok := frames.ParseFrameID(s)
		if ok && id.String() != s || !ok && id != (frames.FrameID{}) {
			t.Errorf("%q was read as %v, %v", s, id, ok)
		}
	})
}

func TestParseModes(t *testing.T) {
	got, err := frames.ParseModes([]string{"values", "messages-tuple", "values"})
	if err != nil || !slices.Equal(got, []frames.Mode{frames.Values, frames.MessagesTuple}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := frames.ParseModes(nil); err != nil || !slices.Equal(got, []frames.Mode{frames.Values}) {
		t.Errorf("none: %v, %v", got, err)
	}
	for _, bad := range []string{"events", "", "Values"} {
		if _, err := frames.ParseModes([]string{"values", bad}); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("%q", bad)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
