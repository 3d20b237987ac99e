package crash

import (
	"fmt"
	"io"
	"time"
)

// soon is what counts as right after a commit.
const soon = 5 * time.Millisecond

// hit says what a worker was doing when it was killed. Several things may be true.
type hit struct {
	tool, commit, model, recovery bool
	twice                         bool // the process before had been killed too, without getting the run further
}

func hitOf(a *attempt, idle int) hit {
	return hit{
		tool:     len(a.tools) > 0,
		commit:   !a.commit.IsZero() && a.killedAt.Sub(a.commit) < soon,
		model:    a.model,
		recovery: !a.own,
		twice:    idle > 0,
	}
}

// histogram prints where kills have hit.
func histogram(w io.Writer, hits []hit) {
	rows := []struct {
		name string
		is   func(hit) bool
	}{
		{"a tool was running", func(h hit) bool { return h.tool }},
		{"less than 5 ms after a commit", func(h hit) bool { return h.commit }},
		{"a model call was running", func(h hit) bool { return h.model }},
		{"recovery: nothing of this attempt committed yet", func(h hit) bool { return h.recovery }},
		{"the process before had got nowhere either", func(h hit) bool { return h.twice }},
		{"none of these", func(h hit) bool { return h == hit{} }},
	}
	fmt.Fprintf(w, "\n%d kills; one may stand in several rows\n", len(hits))
	for _, r := range rows {
		fmt.Fprintf(w, "  %-50s %5d %5.1f %%\n", r.name, count(hits, r.is), 100*share(hits, r.is))
	}
}

// missed says which kind of kill is too rare among the hits, "" if none is.
func missed(hits []hit) string {
	for _, row := range []struct {
		what string
		is   func(hit) bool
		min  float64
	}{
		{"while a tool runs", func(h hit) bool { return h.tool }, 1. / 3},
		{"less than 5 ms after a commit", func(h hit) bool { return h.commit }, 1. / 4},
		{"during recovery", func(h hit) bool { return h.recovery }, .01},
		{"twice in a row", func(h hit) bool { return h.twice }, .01},
	} {
		if got := share(hits, row.is); got < row.min {
			return fmt.Sprintf("only %.0f %% of the kills came %s", 100*got, row.what)
		}
	}
	return ""
}

func count(hits []hit, is func(hit) bool) (n int) {
	for _, h := range hits {
		if is(h) {
			n++
		}
	}
	return n
}

func share(hits []hit, is func(hit) bool) float64 {
	if len(hits) == 0 {
		return 0
	}
	return float64(count(hits, is)) / float64(len(hits))
}

// tally counts what came of runs.
type tally struct {
	kills, runs, finished int
	effects               int // calls that have effects, or lines of them
	once                  int // that happened as often as they may
	unknown               int // of calls whose message says that the outcome is unknown
	duplicated, lost      int
	differences           int // of states
}

func (t *tally) add(o tally) {
	t.kills += o.kills
	t.runs += o.runs
	t.finished += o.finished
	t.effects += o.effects
	t.once += o.once
	t.unknown += o.unknown
	t.duplicated += o.duplicated
	t.lost += o.lost
	t.differences += o.differences
}

// table prints tallies.
func table(w io.Writer, names []string, of map[string]tally) {
	fmt.Fprintf(w, "\n%-12s %7s %6s %9s %8s %13s %8s %11s %5s %12s\n",
		"store", "kills", "runs", "finished", "effects", "exactly once", "unknown", "duplicated", "lost", "differences")
	for _, n := range names {
		t := of[n]
		fmt.Fprintf(w, "%-12s %7d %6d %9d %8d %13d %8d %11d %5d %12d\n",
			n, t.kills, t.runs, t.finished, t.effects, t.once, t.unknown, t.duplicated, t.lost, t.differences)
	}
}
