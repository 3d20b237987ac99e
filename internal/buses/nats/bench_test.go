package nats

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/natstest"
)

// BenchmarkThrough is a message of 200 bytes from one process to another, many on their way.
func BenchmarkThrough(b *testing.B) {
	s := natstest.Start(b)
	var ends [2]*Bus
	for i := range ends {
		var err error
		if ends[i], err = Open(b.Context(), Config{URL: s.URL()}); err != nil {
			b.Fatal(err)
		}
		defer ends[i].Close()
		if err := ends[i].Healthy(); err != nil {
			b.Fatal(err)
		}
	}
	var got atomic.Int64
	if _, err := ends[1].Subscribe("x", func([]byte) { got.Add(1) }); err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 200)
	sent := int64(0)
	for b.Loop() {
		ends[0].Publish("x", data)
		for sent++; sent-got.Load() > 1000; {
			runtime.Gosched()
		}
	}
	b.ReportMetric(float64(ends[0].Stats().Dropped+ends[1].Stats().Dropped), "dropped")
}
