package follow_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
)

// running is a log of runs that are running and have no events.
type running struct{ store.UserData }

func (r running) For(access.User) store.UserData { return r }

// ours is such a run, as the process has it that executes it.
func ours(id string) store.Run { return store.Run{ID: id, UserID: user().ID(), Attempt: 1} }

func (running) Run(_ context.Context, id string) (store.Run, error) {
	return store.Run{ID: id, Status: event.StatusRunning, Attempt: 1}, nil
}
func (running) Events(context.Context, string, event.ID, int) ([]event.Event, error) { return nil, nil }

var at = time.Now()

// piece is a chunk as the recorder shows it.
func piece(i int) event.Event {
	return event.Event{
		ID: event.ID{Attempt: 1, N: int64(i)}, Time: at, Node: "model",
		Data: event.Chunk{MessageID: "0198-message", Text: fmt.Sprintf("tok%03d ", i%1000)},
	}
}

// TestAReaderThatNeverReads does not hold up Show, which would never return here, and does not let the memory grow.
func TestAReaderThatNeverReads(t *testing.T) {
	h := openHub(t, follow.Config{Store: running{}, MaxEvents: 1000})
	feed := h.Own(ours("r"))
	held := make(chan struct{})
	stuck := start(h, "r", event.ID{}, func() { <-held })
	const n = 300_000
	before := heap()
	for i := range n {
		feed.Show(piece(i + 1))
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("the memory grew by %d KiB", grown>>10)
	}
	close(held)
	stuck.cancel()
	<-stuck.done
	feed.Close()
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestStreamsAreSmallInMemory counts what was shown, too: the recorder lets go of it.
func TestStreamsAreSmallInMemory(t *testing.T) {
	tests := []struct {
		name         string
		runs, tokens int
		most         int64
	}{
		{"one long stream", 1, 20_000, 4 << 20},
		{"a thousand streams", 1000, 500, 100_000_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := openHub(t, follow.Config{Store: running{}})
			before := heap()
			feeds := make([]*follow.Feed, tt.runs)
			for r := range feeds {
				feeds[r] = h.Own(ours(fmt.Sprint("r", r)))
				for i := range tt.tokens {
					feeds[r].Show(piece(i + 1))
				}
			}
			grown := heap() - before
			t.Logf("%d KiB, %d bytes for each token", grown>>10, grown/int64(tt.runs*tt.tokens))
			if grown > tt.most {
				t.Errorf("%d bytes, more than %d", grown, tt.most)
			}
			for _, f := range feeds {
				f.Close()
			}
		})
	}
}

func BenchmarkShow(b *testing.B) {
	for _, readers := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprint(readers, " readers"), func(b *testing.B) {
			h := openHub(b, follow.Config{Store: running{}})
			feed := h.Own(ours("r"))
			var all []*followed
			ctx, cancel := context.WithCancel(context.Background())
			for range readers {
				f := &followed{done: make(chan struct{})}
				all = append(all, f)
				go func() {
					defer close(f.done)
					_, f.err = h.Follow(ctx, user(), "r", event.ID{}, func([]event.Event) error { return nil })
				}()
			}
			evs := make([]event.Event, b.N)
			for i := range evs {
				evs[i] = piece(i + 1)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for _, ev := range evs {
				feed.Show(ev)
			}
			b.StopTimer()
			cancel()
			for _, f := range all {
				<-f.done
			}
			feed.Close()
		})
	}
}

// BenchmarkPassOn is the way of one chunk to one reader who waits for it.
func BenchmarkPassOn(b *testing.B) {
	h := openHub(b, follow.Config{Store: running{}})
	feed := h.Own(ours("r"))
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = h.Follow(ctx, user(), "r", event.ID{}, func(evs []event.Event) error {
			got <- struct{}{}
			return nil
		})
	}()
	b.ReportAllocs()
	for i := range b.N {
		feed.Show(piece(i + 1))
		<-got
	}
	b.StopTimer()
	cancel()
	<-done
	feed.Close()
}
