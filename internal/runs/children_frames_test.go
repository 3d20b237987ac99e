package runs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// reader is a client that follows a run from an id on.
type reader struct {
	f         *family
	m         *runs.Manager
	hub       *follow.Hub
	subgraphs bool
}

func (r reader) read(run store.Run, after string) (list []frames.Frame) {
	t := r.f.t
	t.Helper()
	u := r.m.For(user())
	p := frames.New(frames.Config{
		RunID: run.ID, ThreadID: run.ThreadID, Schema: r.m.Schema(), Subgraphs: r.subgraphs,
		Modes: []frames.Mode{frames.Values, frames.Updates, frames.MessagesTuple},
		Child: func(runID string, after, upTo event.ID) ([]event.Event, error) {
			return u.Between(t.Context(), runID, after, upTo)
		},
	})
	if id, ok := frames.ParseFrameID(after); ok {
		p.SkipTo(id)
	}
	_, err := r.hub.Follow(t.Context(), user(), run.ID, event.ID{}, func(evs []event.Event) error {
		for _, ev := range evs {
			got, err := p.Project(ev)
			if err != nil {
				return err
			}
			list = append(list, slices.Clone(got)...)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return list
}

// texts are the whole messages of runs below, as a client that joins the pieces has them, and how often each was
// finished.
func texts(t *testing.T, list []frames.Frame) (all map[string]string, finished map[string]int) {
	all, finished = make(map[string]string), make(map[string]int)
	for _, f := range list {
		if !strings.HasPrefix(f.Event, "messages|tools:") {
			continue
		}
		var pair []struct {
			ID, Type, Content string
			Position          string `json:"chunk_position"`
		}
		if err := json.Unmarshal(f.Data, &pair); err != nil {
			t.Fatalf("%s: %v", f.Data, err)
		}
		switch m := pair[0]; {
		case m.Type == "AIMessageChunk" && m.Position != "last":
			all[m.ID] += m.Content
		case m.Type == "AIMessageChunk":
			all[m.ID] += m.Content
			finished[m.ID]++
		default:
			all[m.ID] = m.Content
			finished[m.ID]++
		}
	}
	return all, finished
}

// TestReadersOfChildren: who asks for subgraphs sees each message of the runs below once and in order, live, late, or
// back from any frame; who does not ask sees nothing of them.
func TestReadersOfChildren(t *testing.T) {
	f := newFamily(t)
	hub := follow.New(follow.Config{Store: f.store})
	defer hub.Close()
	m := f.processWith(f.store, "a", 10, func(c *runs.Config) {
		c.Feed = func(run store.Run) runs.Feed { return hub.Own(run) }
	})
	run := f.submit(m, ordered("split split wait + b"))
	live := make(chan []frames.Frame)
	r := reader{f, m, hub, true}
	go func() { live <- r.read(run, "") }()
	<-f.begun
	close(f.free)
	seen := <-live
	f.wants(run, event.StatusSuccess)
	late := r.read(run, "")

	msgs, finished := texts(t, seen)
	again, _ := texts(t, late)
	if d := cmp.Diff(again, msgs); d != "" || len(msgs) != 5 {
		t.Errorf("%d messages live, and not as late (-late +live):\n%s", len(msgs), d)
	}
	for id, n := range finished {
		if n != 1 {
			t.Errorf("message %s was finished %d times", id, n)
		}
	}
	for i, frame := range seen {
		if frame.ID == "" {
			continue
		}
		rest := r.read(run, frame.ID)
		_, before := texts(t, seen[:i+1])
		_, after := texts(t, rest)
		for id := range again {
			if before[id]+after[id] != 1 {
				t.Errorf("back from %s: message %s comes %d times and then %d times", frame.ID, id, before[id],
					after[id])
			}
		}
	}
	for _, list := range [][]frames.Frame{seen, late} {
		kinds := make(map[string]int)
		for _, frame := range list {
			name, ns, _ := strings.Cut(frame.Event, "|")
			kinds[fmt.Sprint(name, " ", strings.Count(ns, "tools:"))]++
		}
		for _, kind := range []string{"values 1", "updates 1", "messages 1", "values 2", "messages 2"} {
			if kinds[kind] == 0 {
				t.Errorf("no %s among %v", kind, kinds)
			}
		}
	}
	r.subgraphs = false
	for _, frame := range r.read(run, "") {
		if strings.Contains(frame.Event, "|") {
			t.Errorf("not asked for: %s", frame.Event)
		}
	}
}
