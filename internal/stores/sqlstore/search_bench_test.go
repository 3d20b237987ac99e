package sqlstore

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// crowd writes n threads of one user, each with a run at its end and metadata as clients give it.
func crowd(tb testing.TB, s *Store, n int) {
	tb.Helper()
	var wg sync.WaitGroup
	for part := range 64 {
		wg.Go(func() {
			for i := part; i < n; i += 64 {
				now := time.UnixMicro(int64(i) * 1e6)
				metadata := fmt.Appendf(nil,
					`{"graph_id":"lead_agent","assistant_id":"6f1d1d1c-7a55-4f0a-9a0e-%012d","n":%d,"deerflow_pinned":%t}`, i%100, i, i%2000 == 0)
				id := fmt.Sprintf("%08x-thread-%d", uint32(i)*2654435761, i)
				r, err := s.For(ann()).Admit(tb.Context(), store.Admission{
					Thread: store.Thread{ID: id, UserID: "ann", Title: "A talk about deer", Metadata: metadata,
						CreatedAt: now, UpdatedAt: now},
					Run: store.Run{ID: "run-" + id, ThreadID: id, UserID: "ann", Owner: "node", CreatedAt: now,
						UpdatedAt: now}})
				if err == nil {
					end := store.RunChange{Status: []string{event.StatusSuccess, event.StatusError}[i%100/99]}
					_, err = s.Commit(tb.Context(), store.Fence{RunID: r.ID, Attempt: 1},
						store.Step{Run: &end, Now: now})
				}
				if err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkSearch asks for pages of a user's 20,000 threads.
func BenchmarkSearch(b *testing.B) {
	onBoth(b, func(b *testing.B, _ string, s *Store) {
		if _, ok := s.dialect.(sqlite); ok {
			s.exec(b, "PRAGMA synchronous = off")
		}
		crowd(b, s, 20_000)
		want := func(name, value string) map[string]json.RawMessage {
			return map[string]json.RawMessage{name: json.RawMessage(value)}
		}
		for _, bm := range []struct {
			name string
			f    store.ThreadFilter
			n    int
		}{
			{"first", store.ThreadFilter{}, 100},
			{"pinned", store.ThreadFilter{Pinned: true}, 100},
			{"created", store.ThreadFilter{Sort: "created_at"}, 100},
			{"id", store.ThreadFilter{Sort: "thread_id", Ascending: true}, 100},
			{"deep", store.ThreadFilter{Offset: 19_900}, 100},
			{"deep-pinned", store.ThreadFilter{Offset: 19_900, Pinned: true}, 100},
			{"metadata-all", store.ThreadFilter{Metadata: want("graph_id", `"lead_agent"`)}, 100},
			{"metadata-rare",
				store.ThreadFilter{Metadata: want("assistant_id", `"6f1d1d1c-7a55-4f0a-9a0e-000000000001"`),
					Limit: 1000}, 200},
			{"metadata-none", store.ThreadFilter{Metadata: want("assistant_id", `"nobody"`), Pinned: true}, 0},
			{"metadata-number", store.ThreadFilter{Metadata: want("n", "1")}, 1},
			{"busy", store.ThreadFilter{Status: store.ThreadBusy}, 0},
			{"error", store.ThreadFilter{Status: store.ThreadError}, 100},
			{"interrupted", store.ThreadFilter{Status: store.ThreadInterrupted}, 0},
			{"sort-status", store.ThreadFilter{Sort: "status"}, 100},
		} {
			b.Run(bm.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ts, err := s.For(ann()).SearchThreads(b.Context(), bm.f)
					if err != nil || len(ts) != bm.n {
						b.Fatalf("%d threads, %v", len(ts), err)
					}
				}
			})
		}
		for name, f := range map[string]store.ThreadFilter{"count": {}, "count-number": {Metadata: want("n", "1")}} {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.For(ann()).CountThreads(b.Context(), f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
