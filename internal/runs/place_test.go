package runs

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestAPlaceThatIsNotNeededAnyMore goes to the next: while one call of a run waited for a place to go on, another call
// of it began to wait for others.
func TestAPlaceThatIsNotNeededAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{Parallel: 1})
		waits := &place{m: m}
		m.take() // for a run that works
		waits.lend()
		go waits.regain(t.Context())
		synctest.Wait() // it waits for the place
		waits.lend()
		m.queued.Add(1) // a run has not begun
		m.giveBack()
		synctest.Wait()
		<-m.wake // the run that has not begun is looked for
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

// TestDefaultBounds are those that docs/runs.md names.
func TestDefaultBounds(t *testing.T) {
	m := NewManager(Config{})
	n := 0
	for m.take() {
		n++
	}
	if n != 2000 || m.cfg.MaxPending != 10_000 {
		t.Errorf("%d side by side, %d may wait", n, m.cfg.MaxPending)
	}
}

// TestStoppingTellsOfRuns that are left, and of nothing where there are none.
func TestStoppingTellsOfRuns(t *testing.T) {
	for n, want := range map[int]string{0: "", 2: "runs=2\n"} {
		var log bytes.Buffer
		m := NewManager(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		for i := range n {
			_, leave := m.enter(t.Context(), store.Run{ID: fmt.Sprint(i)}, &recorder{})
			defer leave()
		}
		if m.Stop(); log.String() != want && (want == "" || !strings.HasSuffix(log.String(), want)) {
			t.Errorf("with %d runs: %q", n, &log)
		}
	}
}

// TestNoChildBeginsBelowARunAtItsEnd: a call that comes late is refused, and does not wait.
func TestNoChildBeginsBelowARunAtItsEnd(t *testing.T) {
	c := NewManager(Config{}).children(t.Context(), Job{Run: store.Run{ID: "above"}}, seat{}, &recorder{})
	c.end()
	if !c.mu.TryLock() {
		t.Fatal("whoever comes late waits for ever")
	}
	c.mu.Unlock()
	if _, err := c.begin(store.Run{ID: "below", Status: event.StatusRunning}); !errors.Is(err, store.ErrConflict) {
		t.Error(err)
	}
}
