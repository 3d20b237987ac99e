package sqlstore

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

func p50(ds []time.Duration) float64 {
	slices.Sort(ds)
	return float64(ds[len(ds)/2].Microseconds())
}

// onBoth runs a benchmark with each database.
func onBoth(b *testing.B, bench func(b *testing.B, dir string, s *Store)) {
	for name, config := range map[string]func(string) Config{
		"sqlite":   func(dir string) Config { return Config{Dir: dir} },
		"postgres": func(dir string) Config { return postgresAt(b, dir) },
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			s := openWith(b, config(dir))
			defer s.Close()
			bench(b, dir, s)
		})
	}
}

// BenchmarkCommit is one run committing alone, beside the floor: 4 KB written and synced to a file in the same folder.
func BenchmarkCommit(b *testing.B) {
	onBoth(b, func(b *testing.B, dir string, s *Store) {
		f, err := os.Create(filepath.Join(dir, "floor"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		tk := newTalk(b, s, 1)
		tk.begin("hello")
		text, page := tk.text(700), make([]byte, 4096)
		var commits, syncs []time.Duration
		for b.Loop() {
			if len(commits)%500 == 499 { // stay in the middle of a usual thread
				b.StopTimer()
				tk.end()
				tk = newTalk(b, s, uint64(len(commits)))
				tk.begin("hello")
				b.StartTimer()
			}
			start := time.Now()
			tk.ai(text, true)
			commits = append(commits, time.Since(start))
			b.StopTimer()
			start = time.Now()
			if _, err := f.Write(page); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			syncs = append(syncs, time.Since(start))
			b.StartTimer()
		}
		b.ReportMetric(p50(commits), "p50-µs")
		b.ReportMetric(p50(syncs), "fsync-p50-µs")
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	})
}

// BenchmarkParallelCommits is 64 runs committing side by side: ns/op is the time per commit.
func BenchmarkParallelCommits(b *testing.B) {
	onBoth(b, func(b *testing.B, _ string, s *Store) {
		const owners = 64
		tks := make([]*talk, owners)
		for i := range tks {
			tks[i] = newTalk(b, s, uint64(i))
			tks[i].begin("hello")
		}
		text := tks[0].text(700)
		lat := make([][]time.Duration, owners)
		b.ResetTimer()
		var wg sync.WaitGroup
		for i, tk := range tks {
			wg.Go(func() {
				for range max(b.N/owners, 1) {
					start := time.Now()
					tk.ai(text, true)
					lat[i] = append(lat[i], time.Since(start))
				}
			})
		}
		wg.Wait()
		b.ReportMetric(p50(slices.Concat(lat...)), "p50-µs")
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	})
}

// BenchmarkLoad reads the newest state of a thread of 2,000 turns: 4,000 messages of 1 or 2 KB. "warm" is what a
// process that has the thread in its cache pays, "cold" the first load of a store that was just opened; "opened" counts
// the opening as well, and "decoded" is a cold load and the decoding of all messages, which the next run of the thread
// begins with. "snapshot" is a cold load of a checkpoint that has no deltas behind its snapshot.
func BenchmarkLoad(b *testing.B) {
	for _, size := range []int{1 << 10, 2 << 10} {
		dir := b.TempDir()
		s, err := Open(b.Context(), Config{Features: feature.All(), Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		s.exec(b, "PRAGMA synchronous = off")
		tk := newTalk(b, s, 1)
		for range 2000 {
			tk.turn(size)
		}
		var snap string
		var deltas, whole float64
		if err := s.readers.QueryRow("SELECT max(checkpoint_id), max(bytes) FROM snapshots").
			Scan(&snap, &whole); err != nil {
			b.Fatal(err)
		}
		if err := s.readers.QueryRow("SELECT since FROM log WHERE checkpoint_id = (SELECT head FROM threads)").
			Scan(&deltas); err != nil {
			b.Fatal(err)
		}
		read := func(b *testing.B, id string) state.State {
			c, err := s.For(ann()).Checkpoint(b.Context(), schema, tk.thread, id)
			if err != nil {
				b.Fatal(err)
			}
			return c.State
		}
		reopen := func(b *testing.B) {
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			if s, err = Open(b.Context(), Config{Features: feature.All(), Dir: dir}); err != nil {
				b.Fatal(err)
			}
		}
		for _, bm := range []struct{ name, id string }{{"warm", ""}, {"cold", ""}, {"snapshot", snap}, {"decoded", ""},
			{"opened", ""}} {
			b.Run(strconv.Itoa(size>>10)+"KB/"+bm.name, func(b *testing.B) {
				b.ReportAllocs()
				reopen(b)
				if bm.name == "warm" {
					read(b, bm.id)
				}
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					if bm.name != "warm" {
						reopen(b)
					}
					if bm.name != "opened" {
						start = time.Now()
					}
					st := read(b, bm.id)
					if bm.name == "decoded" {
						chats.Get(st)
					}
					took = append(took, time.Since(start))
				}
				b.ReportMetric(p50(took), "p50-µs")
				b.ReportMetric(whole/1e6, "snapshot-MB")
				b.ReportMetric(deltas/1e6, "deltas-MB")
			})
		}
		s.Close()
	}
}

// BenchmarkOpen opens a database without threads: one that is there, and one that is made.
func BenchmarkOpen(b *testing.B) {
	reopen := func(b *testing.B, dir string) {
		s, err := Open(b.Context(), Config{Features: feature.All(), Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
	b.Run("there", func(b *testing.B) {
		b.ReportAllocs()
		dir := b.TempDir()
		reopen(b, dir)
		for b.Loop() {
			reopen(b, dir)
		}
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		dir := b.TempDir()
		for i := 0; b.Loop(); i++ {
			reopen(b, filepath.Join(dir, strconv.Itoa(i)))
		}
	})
}

// BenchmarkAdmit is a run that is claimed as it is admitted, with its thread: alone, and 64 side by side.
func BenchmarkAdmit(b *testing.B) {
	onBoth(b, func(b *testing.B, _ string, s *Store) {
		admit := func(b *testing.B, prefix string, i int) {
			now, id := time.Now(), prefix+strconv.Itoa(i)
			r, err := s.For(ann()).Admit(b.Context(),
				store.Admission{Thread: store.Thread{ID: id, UserID: "ann", CreatedAt: now, UpdatedAt: now},
					Run: store.Run{ID: "run-" + id, ThreadID: id, UserID: "ann", Owner: "me",
						Request: []byte(`{"input":"hello"}`), CreatedAt: now, UpdatedAt: now}})
			if err != nil || r.Attempt != 1 {
				b.Fatal(r, err)
			}
		}
		b.Run("new", func(b *testing.B) {
			for i := range b.N {
				admit(b, "new-"+strconv.Itoa(b.N)+"-", i)
			}
		})
		b.Run("old", func(b *testing.B) {
			b.StopTimer()
			var wg sync.WaitGroup
			for i := range b.N {
				wg.Go(func() {
					_ = s.For(ann()).CreateThread(b.Context(),
						store.Thread{ID: "old-" + strconv.Itoa(b.N) + "-" + strconv.Itoa(i+1), UserID: "ann"})
				})
			}
			wg.Wait()
			b.StartTimer()
			var next atomic.Int64
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					admit(b, "old-"+strconv.Itoa(b.N)+"-", int(next.Add(1)))
				}
			})
		})
		b.Run("parallel", func(b *testing.B) {
			var next atomic.Int64
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					admit(b, "parallel-"+strconv.Itoa(b.N)+"-", int(next.Add(1)))
				}
			})
		})
	})
}
