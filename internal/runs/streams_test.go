package runs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
)

// TestStreams: two messages are streamed side by side, and other events come between.
func TestStreams(t *testing.T) {
	s := make(streams)
	chunk := func(id string) event.Data { return event.Chunk{MessageID: id} }
	done := func(id string, n int) event.Data { return event.Message{MessageID: id, Chunks: make([]event.Cut, n)} }
	var evs []event.Event
	for i, d := range []event.Data{
		event.Run{Status: event.StatusRunning}, chunk("a"), event.Custom{}, chunk("b"), chunk("a"), event.Progress{},
		chunk("a"), event.State{}, done("a", 3), event.Custom{}, event.Discard{MessageID: "b"}, event.Custom{},
		chunk("c"), event.State{}, event.Run{Status: event.StatusError},
	} {
		ev := event.Event{ID: event.ID{Attempt: 1, N: int64(i + 1)}, Data: d}
		s.note(&ev)
		evs = append(evs, ev)
	}
	open := make([]int64, len(evs))
	for i, ev := range evs {
		open[i] = ev.Open
	}
	if d := cmp.Diff([]int64{0, 0, 2, 0, 0, 0, 0, 2, 4, 4, 0, 0, 0, 13, 0}, open); d != "" {
		t.Errorf("open (-want +got)\n%s", d)
	}
	want := event.Message{MessageID: "a", First: 2, Chunks: []event.Cut{{}, {Skip: 2}, {Skip: 1}}}
	if d := cmp.Diff(event.Data(want), evs[8].Data); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(s) > 0 {
		t.Errorf("left: %v", s)
	}
}
