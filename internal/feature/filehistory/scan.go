package filehistory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

const (
	// maxEntries is how many files and folders a thread may have for its history to be kept; maxDepth how deep they may lie.
	maxEntries = 100_000
	maxDepth   = 100
	// racy is how long after a change another one may leave the times of a file as they are: the clock of a file system ticks.
	racy = 50 * time.Millisecond
)

// ErrTooMany is that the thread has more files than are followed.
var ErrTooMany = errors.New("the thread has more files than its history follows")

// tree is all that a thread has, by path.
type tree map[string]Entry

// notFollowed are folders of what programs make again by themselves. A history that kept them would keep little else.
func notFollowed(name string) bool {
	switch name {
	case "node_modules", "__pycache__", ".venv", ".cache", ".next", ".mcp", ".browser-frames", ".tool-results", ".pytest_cache", ".ruff_cache", ".mypy_cache":
		return true
	}
	return false
}

// scan is one look at the files of a thread.
type scan struct {
	ctx    context.Context
	before tree
	at     int64 // when before was seen, in nanoseconds; what was changed shortly before that is read again
	now    tree
	copies *objects // keeps the content of what is new
	// found are the paths whose entries are not what they were; known counts those that were there before.
	found []string
	known int
}

// look finds what a thread has now: a stat of each file, and the content of those that were changed since before.
func (s *scan) look(files *os.Root) error {
	s.now = make(tree, len(s.before))
	for _, folder := range []string{"workspace", "uploads", "outputs"} {
		if err := s.folder(files, folder, folder, 0); err != nil {
			return err
		}
	}
	if s.known < len(s.before) {
		for p := range s.before {
			if s.now[p].Kind == 0 {
				s.found = append(s.found, p)
			}
		}
	}
	return nil
}

// put notes what a path is.
func (s *scan) put(at string, old, e Entry) {
	s.now[at] = e
	if old.Kind != 0 {
		s.known++
	}
	if old != e {
		s.found = append(s.found, at)
	}
	if e.Kind == File && !e.Kept && !same(old, e) {
		s.copies.watch.FileNotKept()
	}
}

// folder looks at what is in a folder. What cannot be listed is taken for what it was.
func (s *scan) folder(in *os.Root, name, at string, depth int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	dir, err := in.OpenRoot(name + "/.") // as a folder, or not at all: opening a FIFO waits
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.keep(at)
		}
		return nil
	}
	defer dir.Close()
	names, err := namesIn(dir)
	if err != nil {
		s.keep(at)
		return nil // see above
	}
	for i, info := range lstats(dir, names) {
		if err := s.entry(dir, info, names[i], at+"/"+names[i], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// sideBySide is from how many names on they are looked at in two halves: a look is nearly nothing but the system's time for each name.
const sideBySide = 32

// lstats looks at each name in a folder; nil is one that is gone.
func lstats(dir *os.Root, names []string) []fs.FileInfo {
	list := make([]fs.FileInfo, len(names))
	look := func(from, to int) {
		for i := from; i < to; i++ {
			list[i], _ = dir.Lstat(names[i])
		}
	}
	if len(names) < sideBySide {
		look(0, len(names))
		return list
	}
	var second sync.WaitGroup
	second.Go(func() { look(len(names)/2, len(names)) })
	look(0, len(names)/2)
	second.Wait()
	return list
}

func namesIn(dir *os.Root) ([]string, error) {
	h, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer h.Close()
	names, err := h.Readdirnames(maxEntries + 1)
	if len(names) > 0 || err != nil && err.Error() == "EOF" {
		err = nil
	}
	slices.Sort(names)
	return names, err
}

// keep takes over what was below a folder.
func (s *scan) keep(folder string) {
	for p, e := range s.before {
		if strings.HasPrefix(p, folder+"/") {
			s.put(p, e, e)
		}
	}
}

func (s *scan) entry(in *os.Root, info fs.FileInfo, name, at string, depth int) error {
	if info == nil || sandbox.IsTemp(name) && !info.IsDir() {
		return nil // it is gone, or on its way to its name
	}
	if len(s.now) >= maxEntries {
		return ErrTooMany
	}
	e := entryOf(info, at)
	old := s.before[at]
	switch e.Kind {
	case Dir:
		s.put(at, old, e)
		if depth < maxDepth && !notFollowed(name) {
			return s.folder(in, name, at, depth)
		}
		return nil
	case Link:
		e.Target, _ = in.Readlink(name)
	case File:
		if untouched(old, e) && e.changed < s.at-int64(racy) {
			e.Sum, e.Kept = old.Sum, old.Kept
			break
		}
		var err error
		if e, err = s.copies.take(in, name, e); err != nil {
			return err
		}
	}
	s.put(at, old, e)
	return nil
}

// entryOf is what a stat tells of something.
func entryOf(info fs.FileInfo, at string) Entry {
	e := Entry{Path: at, Kind: Special, Mode: info.Mode() & bits, Size: info.Size(), modified: info.ModTime().UnixNano()}
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

// differ lists what differs between two looks at some paths.
func differ(before, now tree, at map[string]bool) (list []Change) {
	for p := range at {
		if c := (Change{before[p], now[p]}); !same(c.Before, c.After) {
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
