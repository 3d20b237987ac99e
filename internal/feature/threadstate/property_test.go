package threadstate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// slice draws nil, an empty or a filled slice, with room behind its end that an append in place would write to.
func slice[T any](item *rapid.Generator[T], limit int) *rapid.Generator[[]T] {
	return rapid.Custom(func(t *rapid.T) []T {
		if rapid.IntRange(0, 5).Draw(t, "nil") == 0 {
			return nil
		}
		drawn := rapid.SliceOfN(item, 0, limit).Draw(t, "items")
		return append(make([]T, 0, 2*len(drawn)+4), drawn...)
	})
}

// room returns the slice with the room behind its end.
func room[T any](s []T) []T { return slices.Clone(s[:cap(s)]) }

// merge calls a reducer and fails if that changed an argument or gave no value.
func merge[T any](t *rapid.T, reduce func(old, upd []T) ([]T, error), old, upd []T) []T {
	oldBefore, updBefore := room(old), room(upd)
	got, err := reduce(old, upd)
	if err != nil || got == nil {
		t.Fatalf("merge(%v, %v) = %v, %v", old, upd, got, err)
	}
	if diff := cmp.Diff(oldBefore, room(old)) + cmp.Diff(updBefore, room(upd)); diff != "" {
		t.Fatalf("merge changed an argument:\n%s", diff)
	}
	return got
}

func checkIdempotent[T any](t *rapid.T, reduce func(old, upd []T) ([]T, error), merged, upd []T) {
	if diff := cmp.Diff(merged, merge(t, reduce, merged, upd), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the same update again changes the state:\n%s", diff)
	}
}

var drawWord = rapid.StringMatching(`[a-d]{1,2}`)

func TestArtifactsProperties(t *testing.T) {
	words := slice(drawWord, 8)
	rapid.Check(t, func(t *rapid.T) {
		old, upd := words.Draw(t, "old"), words.Draw(t, "upd")
		if old == nil {
			old = []string{}
		}
		got := merge(t, mergeArtifacts, old, upd)
		if upd == nil {
			return
		}
		checkIdempotent(t, mergeArtifacts, got, upd)
		var want []string
		for _, s := range slices.Concat(old, upd) {
			if !slices.Contains(want, s) {
				want = append(want, s)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("merge(%v, %v) = %v", old, upd, got)
		}
	})
}

func TestPromotedProperties(t *testing.T) {
	names := slice(drawWord, 6)
	drawPromoted := rapid.Custom(func(t *rapid.T) *PromotedTools {
		return &PromotedTools{rapid.SampledFrom([]string{"", "h", "i"}).Draw(t, "hash"), names.Draw(t, "names")}
	})
	rapid.Check(t, func(t *rapid.T) {
		old, upd := drawPromoted.Draw(t, "old"), drawPromoted.Draw(t, "upd")
		before := []PromotedTools{{old.CatalogHash, room(old.Names)}, {upd.CatalogHash, room(upd.Names)}}
		got, err := mergePromoted(old, upd)
		if err != nil {
			t.Fatal(err)
		}
		after := []PromotedTools{{old.CatalogHash, room(old.Names)}, {upd.CatalogHash, room(upd.Names)}}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("merge changed an argument:\n%s", diff)
		}
		if got.empty() != (old.empty() && upd.empty()) {
			t.Fatalf("merge(%v, %v) = %v", old, upd, got)
		}
		for _, name := range upd.Names {
			if !slices.Contains(got.Names, name) {
				t.Fatalf("merge(%v, %v) = %v lost %q", old, upd, got, name)
			}
		}
		first, _ := mergePromoted(got, upd)
		second, _ := mergePromoted(first, upd)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("the same update again changes the state:\n%s", diff)
		}
	})
}

func TestViewedImagesProperties(t *testing.T) {
	images := rapid.MapOf(drawWord, rapid.Custom(func(t *rapid.T) ViewedImage {
		return ViewedImage{Size: rapid.Int64Range(0, 3).Draw(t, "size")}
	}))
	rapid.Check(t, func(t *rapid.T) {
		old, upd := images.Draw(t, "old"), images.Draw(t, "upd")
		oldBefore, updBefore := maps.Clone(old), maps.Clone(upd)
		got, err := mergeViewedImages(old, upd)
		if err != nil || got == nil {
			t.Fatalf("merge = %v, %v", got, err)
		}
		got["probe"] = ViewedImage{} // the result must not be an argument
		delete(got, "probe")
		if diff := cmp.Diff(oldBefore, old) + cmp.Diff(updBefore, upd); diff != "" {
			t.Fatalf("merge changed an argument:\n%s", diff)
		}
		again, _ := mergeViewedImages(got, upd)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("the same update again changes the state:\n%s", diff)
		}
	})
}

func drawDelegation(ids int) *rapid.Generator[Delegation] {
	statuses := rapid.SampledFrom([]string{"", DelegationInProgress, DelegationCompleted, DelegationFailed})
	optional := rapid.SampledFrom([]string{"", "x", "y"})
	return rapid.Custom(func(t *rapid.T) Delegation {
		return Delegation{
			ID:     strconv.Itoa(rapid.IntRange(1, ids).Draw(t, "id")),
			Status: statuses.Draw(t, "status"), CreatedAt: optional.Draw(t, "created"), RunID: optional.Draw(t, "run"),
			Description: optional.Draw(t, "description"), ResultBrief: optional.Draw(t, "brief"),
		}
	})
}

func delegationIDs(list []Delegation) []string {
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = d.ID
	}
	return ids
}

func TestDelegationsProperties(t *testing.T) {
	drawSome := slice(drawDelegation(12), 10)
	rapid.Check(t, func(t *rapid.T) {
		old := merge(t, mergeDelegations, nil, drawSome.Draw(t, "old"))
		upd := drawSome.Draw(t, "upd")
		got := merge(t, mergeDelegations, old, upd)
		checkIdempotent(t, mergeDelegations, got, upd)
		order := union(delegationIDs(old), delegationIDs(upd))
		if !slices.Equal(delegationIDs(got), order) {
			t.Fatalf("order %v, want %v", delegationIDs(got), order)
		}
		for i, was := range old {
			is := got[i]
			if was.Terminal() && !is.Terminal() || was.RunID != "" && is.RunID != was.RunID || was.CreatedAt != "" &&
				is.CreatedAt != was.CreatedAt {
				t.Fatalf("%+v became %+v", was, is)
			}
		}
	})
}

func TestDelegationsKeepTheNewest(t *testing.T) {
	drawMany := slice(drawDelegation(500), 70)
	rapid.Check(t, func(t *rapid.T) {
		old := merge(t, mergeDelegations, nil, drawMany.Draw(t, "old"))
		upd := drawMany.Draw(t, "upd")
		want := union(delegationIDs(old), delegationIDs(upd))
		want = want[max(0, len(want)-MaxDelegations):]
		if got := delegationIDs(merge(t, mergeDelegations, old, upd)); !slices.Equal(got, want) {
			t.Fatalf("kept %v, want %v", got, want)
		}
	})
}

func TestSkillContextProperties(t *testing.T) {
	drawSkills := slice(rapid.Custom(func(t *rapid.T) SkillEntry {
		return SkillEntry{
			Path:        drawWord.Draw(t, "path"),
			Description: strings.Repeat("ä", rapid.IntRange(0, 2*MaxSkillDescription).Draw(t, "length")),
			LoadedAt:    rapid.IntRange(0, 99).Draw(t, "at"),
		}
	}), 14)
	rapid.Check(t, func(t *rapid.T) {
		old := merge(t, mergeSkillContext, nil, drawSkills.Draw(t, "old"))
		upd := drawSkills.Draw(t, "upd")
		got := merge(t, mergeSkillContext, old, upd)
		checkIdempotent(t, mergeSkillContext, got, upd)

		var want []string // newest first
		for _, s := range slices.Backward(slices.Concat(old, upd)) {
			if !slices.Contains(want, s.Path) && len(want) < MaxSkills {
				want = append(want, s.Path)
			}
		}
		var paths []string
		for _, s := range slices.Backward(got) {
			paths = append(paths, s.Path)
			if utf8.RuneCountInString(s.Description) > MaxSkillDescription || !utf8.ValidString(s.Description) {
				t.Fatalf("description of %d bytes", len(s.Description))
			}
		}
		if !slices.Equal(paths, want) {
			t.Fatalf("kept %v, want %v", paths, want)
		}
	})
}
