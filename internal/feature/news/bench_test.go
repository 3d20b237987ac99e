package news_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// BenchmarkStreams is what the streams of 1,000 users hold in memory, stacks included, beside what a connection does.
func BenchmarkStreams(b *testing.B) {
	const streams = 1000
	st, err := sqlstore.Open(b.Context(),
		sqlstore.Config{Dir: b.TempDir(), Features: []database.Feature{news.Feature()}})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	hub := news.NewHub(news.Config{Store: st})
	for b.Loop() {
		ctx, stop := context.WithCancel(b.Context())
		before := held()
		var begun, all sync.WaitGroup
		begun.Add(streams)
		for i := range streams {
			all.Go(func() {
				_ = hub.For(access.FromRow(fmt.Sprint("user-", i))).Follow(ctx, 0, func(news.Look) error {
					begun.Done() // the counts, once
					return nil
				})
			})
		}
		begun.Wait()
		b.ReportMetric(float64(held()-before)/streams, "bytes/stream")
		stop()
		all.Wait()
	}
}

func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
