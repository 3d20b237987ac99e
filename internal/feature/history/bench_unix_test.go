//go:build unix

package history_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// BenchmarkFirstLook is the first page of a thread of 5,000 messages of which nothing was noted yet, as those of older
// versions are: its time, the processor time of this process, and the most memory that it holds meanwhile.
func BenchmarkFirstLook(b *testing.B) {
	const size = 5000
	databases.Bench(b, []database.Feature{history.Feature()}, func(b *testing.B, st database.Store) {
		ann := access.FromRow("ann")
		thread := 0
		var cpu time.Duration
		var held uint64
		for b.Loop() {
			b.StopTimer()
			thread++
			id := fmt.Sprint("t", thread)
			fillThread(b, st, id, size)
			stop := watchHeap(&held)
			b.StartTimer()
			before := cpuTime()
			page, err := history.New(st).For(ann).Page(b.Context(), history.Ask{Thread: id, Limit: 50})
			cpu += cpuTime() - before
			b.StopTimer()
			stop()
			if err != nil || len(page.Messages) != 50 {
				b.Fatalf("%d messages, %v", len(page.Messages), err)
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(cpu.Milliseconds())/float64(thread), "cpu-ms/op")
		b.ReportMetric(float64(held)/(1<<20), "MiB-held")
	})
}

// fillThread writes a thread of so many messages, one in each checkpoint.
func fillThread(b *testing.B, st database.Store, id string, size int) {
	b.Helper()
	mine := st.For(access.FromRow("ann"))
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	schema, err := state.NewSchema(messages)
	must(err)
	must(mine.CreateThread(b.Context(), store.Thread{ID: id, CreatedAt: now, UpdatedAt: now}))
	at, err := schema.Load(nil)
	must(err)
	head := store.Origin
	for i := range size {
		m := message.New([]message.Role{message.Human, message.AI}[i%2],
			strings.Repeat("as many words as people write to one another ", 10))
		m.ID = fmt.Sprint(i)
		update := messages.Append(m)
		at, _, err = at.Apply(update)
		must(err)
		head, err = mine.Write(b.Context(), id, store.Step{
			Parent: head, OnHead: i > 0, State: at, Updates: []store.NodeUpdate{{Node: "model", Update: update}},
			Now: now,
		})
		must(err)
	}
}

// watchHeap notes the most that the heap holds beyond now, until stop.
func watchHeap(most *uint64) (stop func()) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := heap()
	var ended atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !ended.Load() {
			if now := heap(); now > before {
				*most = max(*most, now-before)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return func() { ended.Store(true); <-done }
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of ourselves, which cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
