package sqlstore

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func p50(ds []time.Duration) float64 {
	slices.Sort(ds)
	return float64(ds[len(ds)/2].Microseconds())
}

// BenchmarkCommit is one run committing alone, beside the floor: 4 KB written and synced to a file in the same folder.
func BenchmarkCommit(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(b.Context(), Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
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
}

// BenchmarkParallelCommits is 64 runs committing side by side: ns/op is the time per commit.
func BenchmarkParallelCommits(b *testing.B) {
	const owners = 64
	s, err := Open(b.Context(), Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
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
}

// BenchmarkLoad reads the newest state of a thread of 2,000 turns: 4,000 messages of 1 or 2 KB. "worst" stands right
// before a snapshot, "best" on one.
func BenchmarkLoad(b *testing.B) {
	for _, size := range []int{1 << 10, 2 << 10} {
		s, err := Open(b.Context(), Config{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		tk := newTalk(b, s, 1)
		for range 2000 {
			tk.turn(size)
		}
		name := map[int]string{1 << 10: "1KB", 2 << 10: "2KB"}[size]
		var snap string
		if err := s.readers.QueryRow("SELECT max(checkpoint_id) FROM snapshots").Scan(&snap); err != nil {
			b.Fatal(err)
		}
		for _, at := range []struct{ name, id string }{{"newest", ""}, {"snapshot", snap}} {
			b.Run(name+"/"+at.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Checkpoint(b.Context(), schema, tk.thread, at.id); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(name+"/decoded", func(b *testing.B) {
			n := 0
			for b.Loop() {
				c, err := s.Checkpoint(b.Context(), schema, tk.thread, "")
				if err != nil {
					b.Fatal(err)
				}
				n = len(chats.Get(c.State))
			}
			b.ReportMetric(float64(n), "messages")
		})
		s.Close()
	}
}

// BenchmarkOpen opens a database of a few MB.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s, err := Open(b.Context(), Config{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
