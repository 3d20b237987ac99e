package loopdetection

import (
	"slices"

	"github.com/pudu-ai/pudu/state"
)

// record is what the run named has called lately. An update adds to it; that of another run replaces it.
var record = state.Reduced("loop_detection", func(old, upd seen) (seen, error) { return merge(old, upd), nil }).
	AsPrivate()

// seen is a bounded memory of calls and their results, oldest first.
type seen struct {
	RunID string `json:"run_id"`
	// At is the AI message whose results were looked at last.
	At    string `json:"at"`
	Units []unit `json:"units"`
	Calls []call `json:"calls"`
	// Told are the tools whose number of calls the model was told of.
	Told []string `json:"told,omitempty"`
	// KeepUnits and KeepCalls bound the lists. They are part of the update, so that a replay needs nothing else.
	KeepUnits int `json:"keep_units"`
	KeepCalls int `json:"keep_calls"`
}

// unit is all calls of one message with their results, whatever their order.
type unit struct {
	Key    string `json:"k"`
	Fresh  bool   `json:"f,omitempty"` // brought progress
	Warned bool   `json:"w,omitempty"` // the model was warned of the repetition
}

// call is one call with its result.
type call struct {
	Tool   string `json:"t"`
	Key    string `json:"k"`
	Result string `json:"r,omitempty"`
	Fresh  bool   `json:"f,omitempty"`
}

// mostTold bounds the names of tools that are remembered.
const mostTold = 64

func recordOf(s state.State, runID string) seen {
	if r := record.Get(s); r.RunID == runID {
		return r
	}
	return seen{RunID: runID}
}

func merge(old, upd seen) seen {
	if old.RunID != upd.RunID {
		old = seen{}
	}
	return seen{
		RunID: upd.RunID, At: upd.At, KeepUnits: upd.KeepUnits, KeepCalls: upd.KeepCalls,
		Units: newestOf(upd.KeepUnits, old.Units, upd.Units),
		Calls: newestOf(upd.KeepCalls, old.Calls, upd.Calls),
		Told:  newestOf(mostTold, old.Told, upd.Told),
	}
}

func newestOf[T any](n int, old, more []T) []T {
	if len(more) == 0 {
		return old
	}
	all := slices.Concat(old, more)
	return all[max(0, len(all)-max(n, 0)):]
}

// progress reports whether a call is progress after the others: its result is new, or it has nothing to say and the
// call itself is new.
func (c made) progress(after []call) bool {
	sameCall, sameResult := false, false
	for _, k := range after {
		sameCall = sameCall || k.Key == c.Key
		sameResult = sameResult || k.Result == c.Result
	}
	return c.said && (!sameResult || c.done && !sameCall)
}

// repeats counts how often the newest unit came since the last progress. Progress leaves one of the earlier ones.
func (s seen) repeats() int {
	last := s.Units[len(s.Units)-1]
	n := 0
	for i, u := range slices.Backward(s.Units) {
		if u.Key == last.Key {
			n++
		}
		if u.Fresh {
			if u.Key != last.Key && slices.ContainsFunc(s.Units[:i], func(e unit) bool { return e.Key == last.Key }) {
				n++
			}
			break
		}
	}
	return n
}

// warned reports whether the model was warned of this repetition: of the same calls, or of others since the last
// progress.
func (s seen) warned() bool {
	last, progress := s.Units[len(s.Units)-1], false
	for _, u := range slices.Backward(s.Units) {
		if u.Warned && (!progress || u.Key == last.Key) {
			return true
		}
		progress = progress || u.Fresh
	}
	return false
}

// count is how many calls of the tool are remembered; all tools for an empty name.
func (s seen) count(tool string) (n int) {
	for _, c := range s.Calls {
		if c.Tool == tool || tool == "" {
			n++
		}
	}
	return n
}

// idle is how many calls of the tool came since the last progress, that one included; all tools for an empty name.
func (s seen) idle(tool string) (n int) {
	for _, c := range slices.Backward(s.Calls) {
		if c.Tool == tool || tool == "" {
			n++
		}
		if c.Fresh {
			break
		}
	}
	return n
}
