package golden

import (
	"maps"
	"slices"
	"testing"
)

func recordings(t *testing.T) []Recording {
	t.Helper()
	list, err := Read("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 100 {
		t.Fatalf("only %d recordings were found", len(list))
	}
	return list
}

// TestEveryExchangeIsReplayedOrLeftOut: the recordings and the table say the same, and no line of the table is idle.
func TestEveryExchangeIsReplayedOrLeftOut(t *testing.T) {
	rules := leftOut()
	idle := map[int]bool{}
	for i := range rules {
		idle[i] = true
		if rules[i].Reason == "" {
			t.Errorf("line %d of the table has no reason: %+v", i, rules[i])
		}
	}
	replayed := 0
	for _, rec := range recordings(t) {
		for i := range rec.Exchanges {
			e := &rec.Exchanges[i]
			rule := find(rules, rec.Name, e)
			delete(idle, rule)
			if e.LeftOut != (rule >= 0) {
				t.Errorf("%s, exchange %d: the recording says left out %v, the table %v; convert again", rec.Name, e.N, e.LeftOut, rule >= 0)
			}
			if rule < 0 {
				replayed++
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(idle)) {
		t.Errorf("line %d of the table is for nothing: %+v", i, rules[i])
	}
	t.Logf("%d exchanges are replayed", replayed)
}
