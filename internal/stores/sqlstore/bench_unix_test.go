//go:build unix

package sqlstore

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkRuns is short runs, 64 side by side. One op is one run, from its admission to its end.
func BenchmarkRuns(b *testing.B) {
	onBoth(b, func(b *testing.B, _ string, s *Store) {
		b.ReportAllocs()
		b.SetParallelism(32)
		before := processorTime(b)
		var next atomic.Uint64
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				shortRun(b, s, next.Add(1))
			}
		})
		b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
	})
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
