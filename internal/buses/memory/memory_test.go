package memory

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/bus/bustest"
)

func TestConformance(t *testing.T) {
	bustest.Run(t, func(*testing.T) func() bus.Bus {
		b := New()
		return func() bus.Bus { return b }
	})
}

// TestQueueKeepsTheNewest compares the queue of a handle that does not return with the end of what was put in.
func TestQueueKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 300), 1, 50).Draw(t, "sizes")
		limit := rapid.IntRange(1, 2000).Draw(t, "limit")
		var running sync.WaitGroup
		var got []int
		began, release := make(chan struct{}), make(chan struct{})
		q := NewQueue(limit, &running, func(m Message) {
			if m.Subject == "first" {
				close(began)
				<-release
				return
			}
			got = append(got, len(m.Data))
		})
		q.Put(Message{Subject: "first"})
		<-began
		dropped := 0
		for _, n := range sizes {
			dropped += q.Put(Message{Data: make([]byte, n)})
		}
		close(release)
		running.Wait()
		if diff := cmp.Diff(newest(sizes, limit), got); diff != "" || dropped+len(got) != len(sizes) {
			t.Fatalf("%d dropped; (-want +got):\n%s", dropped, diff)
		}
	})
}

// newest is the longest end of sizes that fits, and at least the last.
func newest(sizes []int, limit int) []int {
	i := len(sizes) - 1
	for sum := sizes[i] + overhead; i > 0 && sum+sizes[i-1]+overhead <= limit; i-- {
		sum += sizes[i-1] + overhead
	}
	return sizes[i:]
}

func BenchmarkPublish(b *testing.B) {
	m := New()
	defer m.Close()
	for range 4 {
		if _, err := m.Subscribe("run.x", func([]byte) {}); err != nil {
			b.Fatal(err)
		}
	}
	data := make([]byte, 100)
	for b.Loop() {
		m.Publish("run.x", data)
	}
}
