package runs_test

import (
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// TestSpentBelowEach: what the runs below each of several took, to any depth, and nothing of those beside them.
func TestSpentBelowEach(t *testing.T) {
	f := newFamily(t)
	m := f.process(f.store, "a", 10)
	one, other := ordered("split split x + split split y"), ordered("split split c")
	other.ThreadID = "other"
	first, second := f.wants(f.submit(m, one), event.StatusSuccess), f.wants(f.submit(m, other), event.StatusSuccess)
	var want [2]message.Usage
	for i, run := range []store.Run{first, second} {
		for above := []store.Run{run}; len(above) > 0; above = above[1:] {
			for _, r := range f.below(f.store, above[0]) {
				var own message.Usage
				if err := json.Unmarshal(r.Usage, &own); r.Usage != nil && err != nil {
					t.Fatal(err)
				}
				want[i], above = want[i].Add(own), append(above, r)
			}
		}
	}
	got, err := m.For(user()).SpentBelowEach(t.Context(), first.ID, second.ID, "nobody")
	if err != nil || got[first.ID] != want[0] || got[second.ID] != want[1] || got["nobody"] != (message.Usage{}) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	if want[0].TotalTokens <= want[1].TotalTokens || want[1].TotalTokens == 0 {
		t.Errorf("the tokens %+v tell nothing", want)
	}
}
