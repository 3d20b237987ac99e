package runs

import (
	"testing"
	"testing/synctest"
)

// TestAPlaceThatIsNotNeededAnyMore goes to the next: while one call of a run waited for a place to go on, another call of it
// began to wait for others.
func TestAPlaceThatIsNotNeededAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{Parallel: 1})
		works, waits := &place{m: m}, &place{m: m}
		works.take(t.Context())
		waits.lend()
		go waits.regain(t.Context())
		synctest.Wait() // it waits for the place
		waits.lend()
		m.queued.Add(1) // a run has not begun
		works.drop()
		synctest.Wait()
		<-m.wake // of the place that was dropped, or of the one that was not needed
		if !m.take() {
			t.Fatal("nobody works, and there is no place")
		}
		m.giveBack()
		waits.regain(t.Context())
		if m.take() {
			t.Error("it goes on without a place")
		}
		waits.drop()
	})
}
