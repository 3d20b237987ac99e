package filehistory

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"
)

// Version is a content that a file had.
type Version struct {
	// Number is that of the change which made it; 0 is what was there when its history began.
	Number int64
	At     time.Time // when it was noticed; zero for number 0
	Origin

	// Entry is what it was; its zero value says that the change removed it.
	Entry Entry
	// Kept says that its content can still be read; Current that it is what is there now.
	Kept, Current bool
}

// MaxVersions bounds a list of versions; older ones are left out.
const MaxVersions = 1000

// Versions lists what a file was, the newest first. path is the one that the agent knows.
func (t *Thread) Versions(ctx context.Context, path string) (out []Version, err error) {
	p, err := below(path)
	if err != nil {
		return nil, err
	}
	err = t.read(ctx, func(s *session) (err error) {
		out, err = s.versions(p)
		return err
	})
	return out, err
}

func (s *session) versions(p string) (list []Version, err error) {
	batches, err := s.all()
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		for _, c := range b.Changes {
			if c.Path() != p {
				continue
			}
			if len(list) == 0 && c.Before.Kind != 0 {
				list = append(list, Version{Entry: c.Before})
			}
			list = append(list, Version{Number: b.Seq, At: time.UnixMilli(b.At), Origin: b.Origin, Entry: c.After})
		}
	}
	if now, ok := s.state.tree[p]; ok && len(list) == 0 {
		list = append(list, Version{Entry: now})
	}
	slices.Reverse(list)
	list = list[:min(len(list), MaxVersions)]
	o := &objects{root: s.dir}
	for i := range list {
		e := list[i].Entry
		list[i].Kept = e.Kind == Link || e.Kind == File && o.has(e)
		list[i].Current = i == 0 && same(e, s.state.tree[p])
	}
	return list, nil
}

// Number reads the number of a version; what is none is the number of no version.
func Number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// ErrNoVersion is that the file has no such version.
var ErrNoVersion = fmt.Errorf("the file has no such version: %w", os.ErrNotExist)

// Version is one version of a file with its content, which the caller closes. A version whose content was not kept is
// [ErrNotKept].
func (t *Thread) Version(ctx context.Context, path string, number int64) (v Version, content *os.File, err error) {
	p, err := below(path)
	if err != nil {
		return v, nil, err
	}
	err = t.read(ctx, func(s *session) error {
		if v, err = s.version(p, number); err != nil {
			return err
		}
		if v.Entry.Kind != File {
			return ErrNoVersion
		}
		content, err = (&objects{root: s.dir}).open(v.Entry)
		return err
	})
	if err == nil && content == nil {
		err = ErrNoVersion
	}
	return v, content, err
}

func (s *session) version(p string, number int64) (Version, error) {
	list, err := s.versions(p)
	if err != nil {
		return Version{}, err
	}
	i := slices.IndexFunc(list, func(v Version) bool { return v.Number == number })
	if i < 0 {
		return Version{}, ErrNoVersion
	}
	return list[i], nil
}

// Compare is the change from one version of a file to another, with its diff.
func (t *Thread) Compare(ctx context.Context, path string, from, to int64) (f FileChange, err error) {
	p, err := below(path)
	if err != nil {
		return f, err
	}
	found := false
	err = t.read(ctx, func(s *session) error {
		a, err := s.version(p, from)
		if err != nil {
			return err
		}
		b, err := s.version(p, to)
		if err != nil {
			return err
		}
		f = FileChange{Change: Change{a.Entry, b.Entry}, Sensitive: sensitive(p)}
		f.Status, found = statusOf(f.Change), true
		return s.describe(&f, MaxTotalDiff)
	})
	if err == nil && !found {
		err = ErrNoVersion
	}
	return f, err
}

// Origins says of each path who has changed it last, by the paths that the agent knows. What was there before its
// history began is left out.
func (t *Thread) Origins(ctx context.Context) (out map[string]Origin, err error) {
	out = make(map[string]Origin)
	err = t.read(ctx, func(s *session) error {
		list, err := s.all()
		for _, b := range list {
			for _, c := range b.Changes {
				out[c.Virtual()] = b.Origin
			}
		}
		now := make(map[string]bool, len(s.state.tree))
		for _, e := range s.state.tree {
			now[e.Virtual()] = true
		}
		maps.DeleteFunc(out, func(p string, _ Origin) bool { return !now[p] })
		return err
	})
	return out, err
}
