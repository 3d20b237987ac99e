package filehistory

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// maxEntries is how many files and folders a thread may have for its history to be kept; maxDepth how deep they may
	// lie.
	maxEntries = 100_000
	maxDepth   = 100
	// racy is how long after a change another one may leave the times of a file as they are: the clock of a file system
	// ticks.
	racy = 50 * time.Millisecond
)

// ErrTooMany is that the thread has more files than are followed.
var ErrTooMany = errors.New("the thread has more files than its history follows")

// tree is all that a thread has, by path.
type tree map[string]Entry

// notFollowed are folders of what programs make again by themselves. A history that kept them would keep little else.
func notFollowed(name string) bool {
	switch name {
	case "node_modules", "__pycache__", ".venv", ".cache", ".next", ".mcp", ".browser-frames", ".tool-results",
		".pytest_cache", ".ruff_cache", ".mypy_cache":
		return true
	}
	return false
}

// scan is one look at the files of a thread.
type scan struct {
	ctx    context.Context
	before tree
	at     int64    // when before was seen, in nanoseconds; what was changed shortly before that is read again
	copies *objects // keeps the content of what is new
	found  []Change // the paths whose entries are not what they were
}

// look finds what a thread has now: a stat of each file, and the content of those that were changed since before.
func (s *scan) look(files *os.Root) error {
	w := walk{ctx: s.ctx, before: s.before, sure: s.at - int64(racy), as: make([]string, 0, len(s.before))}
	if err := w.lookIn(files); err != nil {
		return err
	}
	slices.SortFunc(w.found, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	for some := w.found; len(some) > 0; {
		n := 1
		for n < len(some) && folderOf(some[n].Path) == folderOf(some[0].Path) {
			n++
		}
		if err := s.entries(files, some[:n]); err != nil {
			return err
		}
		some = some[n:]
	}
	s.missing(&w)
	return nil
}

// entries notes what is in one folder.
func (s *scan) entries(files *os.Root, list []Entry) error {
	folder := folderOf(list[0].Path)
	in, skip := files, 0
	if dir, err := files.OpenRoot(folder); err == nil { // so that the way to it is gone once
		defer dir.Close()
		in, skip = dir, len(folder)+1
	}
	for _, e := range list {
		if err := errors.Join(s.ctx.Err(), s.entry(in, e.Path[skip:], e)); err != nil {
			return err
		}
	}
	return nil
}

// missing finds what was there, and was not seen by a walk.
func (s *scan) missing(w *walk) {
	known := len(w.as)
	for _, e := range w.found {
		if s.before[e.Path].Kind != 0 {
			known++
		}
	}
	if known == len(s.before) {
		return
	}
	seen := make(map[string]bool, len(w.as)+len(w.found))
	for _, p := range w.as {
		seen[p] = true
	}
	for _, e := range w.found {
		seen[e.Path] = true
	}
	for p, old := range s.before {
		if !seen[p] {
			s.found = append(s.found, Change{Before: old})
		}
	}
}

// entry notes what has a path, with the content that it has under a name in a folder.
func (s *scan) entry(dir *os.Root, name string, e Entry) (err error) {
	switch e.Kind {
	case Link:
		e.Target, _ = dir.Readlink(name)
	case File:
		if e, err = s.copies.take(dir, name, e); err != nil {
			return err
		}
	}
	old := s.before[e.Path]
	if old != e {
		s.found = append(s.found, Change{old, e})
	}
	if e.Kind == File && !e.Kept && !same(old, e) {
		s.copies.watch.FileNotKept()
	}
	return nil
}

// entryOf is what a stat tells of something.
func entryOf(info fs.FileInfo, at string) Entry {
	e := Entry{Path: at, Kind: Special, Mode: info.Mode() & bits, Size: info.Size(), modified: info.ModTime().
		UnixNano()}
	e.inode, e.changed = inodeOf(info)
	switch {
	case info.Mode().IsRegular():
		e.Kind = File
	case info.IsDir():
		e.Kind, e.Size, e.modified, e.changed = Dir, 0, 0, 0 // they tell of what is in it
	case info.Mode()&fs.ModeSymlink != 0:
		e.Kind = Link
	}
	return e
}

// differ lists the paths that are not, to a person, what they were.
func differ(before, now tree) (list []Change) {
	for p, old := range before {
		if c := (Change{old, now[p]}); !same(c.Before, c.After) {
			list = append(list, c)
		}
	}
	sortChanges(list)
	return list
}

// Change is what became of a path.
type Change struct {
	Before Entry `json:"b"`
	After  Entry `json:"a"`
}

// Path is the path, below the folder of all of a thread's files.
func (c Change) Path() string {
	if c.Before.Kind != 0 {
		return c.Before.Path
	}
	return c.After.Path
}

// folderOf is the path of the folder that something lies in; firstOf is the first name of a path.
func folderOf(p string) string { return path.Dir(p) }

func firstOf(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}
