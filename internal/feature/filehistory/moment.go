package filehistory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// MaxThen bounds a list of files of then.
const MaxThen = 10_000

// Then lists the files and links as they were at a time, by their paths, each as the version that it was: those in
// folders that programs fill are left out. more says that there are more than [MaxThen].
func (t *Thread) Then(ctx context.Context, at time.Time) (list []Version, more bool, err error) {
	err = t.read(ctx, func(s *session) error {
		then, err := s.then(at)
		o := &objects{root: s.dir}
		for _, v := range then {
			e := v.Entry
			upload := firstOf(e.Path) == "uploads"
			if e.Kind != File && e.Kind != Link || !upload && !shown(Change{After: e}) {
				continue
			}
			v.Kept = e.Kind == Link || o.has(e)
			v.Current = same(e, s.state.tree[e.Path])
			list = append(list, v)
		}
		return err
	})
	slices.SortFunc(list, func(a, b Version) int { return cmp.Compare(a.Entry.Path, b.Entry.Path) })
	return list[:min(len(list), MaxThen)], len(list) > MaxThen, err
}

// then is what each path was at a time.
func (s *session) then(at time.Time) ([]Version, error) {
	batches, err := s.all()
	was := make(map[string]Version, len(s.state.tree))
	for _, b := range batches {
		for _, c := range b.Changes {
			p := c.Path()
			if _, known := was[p]; !known {
				was[p] = Version{Entry: c.Before}
			}
			if b.At <= at.UnixMilli() {
				was[p] = Version{Number: b.Seq, At: time.UnixMilli(b.At), Origin: b.Origin, Entry: c.After}
			}
		}
	}
	for p, e := range s.state.tree {
		if _, known := was[p]; !known {
			was[p] = Version{Entry: e}
		}
	}
	return slices.Collect(maps.Values(was)), err
}
