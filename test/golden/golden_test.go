package golden

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// read reads the recordings once for all tests.
var read = sync.OnceValues(func() ([]Recording, error) { return Read("testdata") })

// recordings are all that there are. The caller may change their exchanges, but not the shapes in them.
func recordings(t *testing.T) []Recording {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d recordings were found", len(all))
	}
	list := slices.Clone(all)
	for i := range list {
		list[i].Exchanges = slices.Clone(list[i].Exchanges)
	}
	return list
}

// TestEveryExchangeIsReplayedOrLeftOut: the recordings and the table say the same, and no line of the table is idle.
func TestEveryExchangeIsReplayedOrLeftOut(t *testing.T) {
	rules, left := leftOut(), uses{}
	full, partly, out := 0, 0, 0
	for _, rec := range recordings(t) {
		for i := range rec.Exchanges {
			e := &rec.Exchanges[i]
			rule := find(rules, rec.Name, e)
			if e.LeftOut != (rule >= 0) {
				t.Errorf("%s, exchange %d: the recording says left out %v, the table %v; convert again", rec.Name, e.N,
					e.LeftOut, rule >= 0)
			}
			switch {
			case rule >= 0:
				left.add(rule, e)
				out++
			case find(changed(), rec.Name, e) >= 0 || find(excused(), rec.Name, e) >= 0:
				partly++
			default:
				full++
			}
		}
	}
	for _, line := range left.idle(rules) {
		t.Errorf("the table is for nothing: %s", line)
	}
	t.Logf("%d exchanges are compared in full, %d in part, %d are left out", full, partly, out)
}

// TestRulesAreNarrow: each line has a reason, is for exchanges of one recording that are there, and none that excuses
// lets another status pass.
func TestRulesAreNarrow(t *testing.T) {
	there := make(map[string]bool)
	for _, rec := range recordings(t) {
		for _, e := range rec.Exchanges {
			there[fmt.Sprint(rec.Name, " ", e.N)] = true
		}
	}
	for _, rule := range slices.Concat(leftOut(), changed(), excused()) {
		if rule.Reason == "" || len(rule.N) == 0 {
			t.Errorf("has no reason or no exchange: %+v", rule)
		}
		for _, n := range rule.N {
			if !there[fmt.Sprint(rule.Recording, " ", n)] {
				t.Errorf("is for exchange %d of %q, which is not there", n, rule.Recording)
			}
		}
	}
	for _, rule := range excused() {
		if rule.Finds == "" || whole(rule.Finds).MatchString("status: is 404, want 200; {}") {
			t.Errorf("excuses too much: %+v", rule)
		}
	}
}
