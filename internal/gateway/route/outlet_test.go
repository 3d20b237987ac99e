package route

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/sinktest"
)

// TestAClosedOutletLetsGo: nobody who comes late waits for ever, and nothing is written any more.
func TestAClosedOutletLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.New()
		out := NewSSE(w, Limits{Heartbeat: 15 * time.Second})
		time.Sleep(16 * time.Second)
		out.Close()
		if !out.mu.TryLock() {
			t.Fatal("whoever comes late waits for ever")
		}
		out.mu.Unlock()
		time.Sleep(time.Minute)
		if !slices.Equal(w.Writes, []string{": heartbeat\n\n"}) || w.At[0] != 15*time.Second {
			t.Errorf("%q at %v", w.Writes, w.At)
		}
	})
}
