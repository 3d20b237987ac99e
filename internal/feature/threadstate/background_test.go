package threadstate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/state"
)

func TestBackgroundKeepsTheNewest(t *testing.T) {
	if !Background.Private() {
		t.Error("clients would see the list")
	}
	item := rapid.Custom(func(t *rapid.T) BackgroundProcesses {
		return BackgroundProcesses{Instance: fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "instance")),
			Count: rapid.IntRange(1, 9).Draw(t, "count")}
	})
	rapid.Check(t, func(t *rapid.T) {
		old := merge(t, mergeBackground, nil, slice(item, MaxBackground).Draw(t, "old"))
		upd := slice(item, 2*MaxBackground).Draw(t, "upd")
		all := append(append([]BackgroundProcesses{}, old...), upd...)
		if diff := cmp.Diff(all[max(0, len(all)-MaxBackground):], merge(t, mergeBackground, old, upd)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBackgroundIsReplacedByOverwrite(t *testing.T) {
	one := []BackgroundProcesses{{Instance: "a", Count: 1}}
	s, _, err := (state.State{}).Apply(Background.Put(one).With(Background.Overwrite(nil)).With(Background.Put(one)))
	if diff := cmp.Diff(one, Background.Get(s)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
