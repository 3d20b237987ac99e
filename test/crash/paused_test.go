//go:build unix

package crash

import (
	"maps"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// TestAPausedProcessWakesTooLate: a worker is stopped in the middle of a tool for longer than its lease, another one
// takes its run over, and then the first goes on. It must write nothing more, and stop its tool.
func TestAPausedProcessWakesTooLate(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t), URL: pg.Database(t), Lease: 2500 * time.Millisecond, Serve: true})
	t.Run("in a tool that does not end", func(t *testing.T) { c.wakeLate(t, "c5-0", "c5-0") })
	t.Run("in a tool that ends when it wakes", func(t *testing.T) { c.wakeLate(t, "c17-0", "") })
}

// wakeLate stops a worker when the call begins.
func (c *campaign) wakeLate(t *testing.T, held, hold string) {
	t.Parallel()
	o := c.orderIn("paused in " + held)
	o.Hold = hold
	late := newSite(o)
	o.Hold = ""
	next := newSite(o)
	next.attempts = 1 // so that it has another name
	var before []event.Event
	var woken time.Time
	a, err := late.attend(t.Context(), func(a *attempt, marks <-chan mark, cmd *exec.Cmd) {
		for m := range marks {
			late.note(a, m)
			switch {
			case m.what == markBegin && m.word(0) == held:
				cmd.Process.Signal(syscall.SIGSTOP)
				if b, err := next.try(t.Context(), never); err != nil || b.status != event.StatusSuccess {
					t.Errorf("the second worker: status %q, error %v", b.status, err)
				}
				before = eventsOf(t, late)
				woken = time.Now()
				cmd.Process.Signal(syscall.SIGCONT)
			case m.at.Before(woken) || woken.IsZero(): // it may be told of late
			case m.what == markCommit, m.what == markEvent, m.what == markMessage:
				t.Errorf("after its run was taken over the late worker did: %s %q", m.what, m.words)
			case m.what == markEnd && m.word(0) == held:
				t.Logf("its tool stopped %s after it woke up", m.at.Sub(woken).Round(time.Millisecond))
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if a.tools[held] {
		t.Error("the late worker's tool did not stop")
	}
	if after := eventsOf(t, late); len(after) != len(before) || len(before) == 0 {
		t.Errorf("the log had %d events when the late worker woke up, and has %d now", len(before), len(after))
	}
	maps.Copy(next.seen, late.seen) // its readers saw what is there still
	v := c.judged(t, next)
	if hold != "" && v.unknown != 1 { // the other one may have ended before it was stopped
		t.Errorf("%d outcomes are unknown", v.unknown)
	}
}

// eventsOf reads the log of the run.
func eventsOf(t *testing.T, s *site) []event.Event {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), s.order.storeConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	run, err := theRun(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	evs, err := st.For(user()).Events(t.Context(), run.ID, event.ID{}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return evs
}
