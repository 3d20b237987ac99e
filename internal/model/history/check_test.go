package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/message"
)

// valid reports whether the messages follow the rules as they are.
func (r *Rules) valid(msgs []message.Message) bool {
	paired, inTurn := r.check(msgs)
	return paired && inTurn
}

// TestShortWay: lists whose calls and results are sound are not paired anew, and nobody sees a difference. Half of the
// lists are of that kind.
func TestShortWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, msgs := anyRules.Draw(t, "rules"), Messages(t)
		if rapid.Bool().Draw(t, "paired") {
			loose := *r
			loose.System, loose.UserFirst, loose.Alternate, loose.AnswerResults, loose.NoPrefill = r.system(), false,
				false, false, false
			msgs = loose.Apply(msgs)
			if paired, _ := r.check(msgs); !paired {
				t.Fatalf("was paired, and is not\nrules %+v\n%s", r, dump(msgs))
			}
		}
		if d := cmp.Diff(r.sequence(r.pair(msgs)), r.Apply(msgs), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("rules %+v\n%s\n%s", r, dump(msgs), d)
		}
	})
}

// TestTurnsCostLittle: what only has to be put in turn, as a note behind a user's message has for templates, costs the
// list and the joined text.
func TestTurnsCostLittle(t *testing.T) {
	r := Rules{Alternate: true, UserFirst: true}
	msgs := append([]message.Message{human("a reminder")}, thread(200)...)
	if n := testing.AllocsPerRun(50, func() { r.Apply(msgs) }); n > 6 {
		t.Errorf("%v allocations", n)
	}
}
