package crash

import (
	"slices"
	"testing"
)

// TestPlan: a seed names its plan, and the kinds come in the shares that are promised.
func TestPlan(t *testing.T) {
	const draws = 10_000
	draw := func(seed uint64) (ks []kill) {
		p := newPlan(seed)
		for range draws {
			ks = append(ks, p.next())
		}
		return ks
	}
	first := draw(1)
	if !slices.Equal(first, draw(1)) {
		t.Error("one seed draws twice what is not the same")
	}
	if slices.Equal(first, draw(2)) {
		t.Error("two seeds draw the same")
	}
	counts := make(map[string]int)
	for _, k := range first {
		counts[k.mark]++
	}
	for what, least := range map[string]int{markBegin: draws / 3, markCommit: draws / 4, markAttempt: draws / 50,
		markOpen: draws / 50, "": draws / 20} {
		if counts[what] < least {
			t.Errorf("%d of %d kills wait for %q", counts[what], draws, what)
		}
	}
}
