package filehistory

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/sandbox"
)

// walk looks at each name in the folders of a thread. It is nearly nothing but the system's time for each, so there are
// two goroutines at it. It goes from each open [folder] to those in it: no link that is laid meanwhile leads it
// elsewhere.
type walk struct {
	ctx    context.Context
	before tree
	sure   int64 // what was changed before that, in nanoseconds, is what its times say

	second sync.WaitGroup
	busy   chan struct{} // holds one value while there is a second goroutine

	mu    sync.Mutex // of what follows
	as    []string   // the paths that are as they were
	found []Entry    // what the others are, without their content
	err   error      // why the walk has ended
}

// lookIn looks at all names in the folders of a thread. What cannot be looked at is taken for what it was.
func (w *walk) lookIn(files *os.Root) error {
	w.busy = make(chan struct{}, 1)
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		f, err := openFolder(files, name)
		w.folder(f, err, name, 0)
	}
	w.second.Wait()
	w.ended()
	return w.err
}

// beside has the second goroutine do something, unless it is busy.
func (w *walk) beside(do func()) {
	select {
	case w.busy <- struct{}{}:
		w.second.Go(func() {
			do()
			<-w.busy
		})
	default:
		do()
	}
}

// portion is how many names are looked at by one goroutine before the other may help.
const portion = 128

// folder looks at what is in a folder, if that could be opened, and closes it.
func (w *walk) folder(f folder, err error, at string, depth int) {
	var names []string
	if err == nil {
		defer f.close()
		names, err = f.names()
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.note(w.below(at, nil), nil)
		}
		return
	}
	var open sync.WaitGroup
	for some := range slices.Chunk(names, portion) {
		open.Add(1)
		w.beside(func() {
			defer open.Done()
			w.names(f, some, at, depth)
		})
	}
	open.Wait()
}

// names looks at some names in a folder, and at what is below them.
func (w *walk) names(f folder, names []string, at string, depth int) {
	as, found := make([]string, 0, len(names)), []Entry(nil)
	path := append([]byte(at), '/')
	for _, name := range names {
		path = append(path[:len(at)+1], name...)
		old := w.before[string(path)] // which makes no string
		e, err := f.look(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || sandbox.IsTemp(name) && e.Kind != Dir:
			continue // it is gone, or on its way to its name
		case err != nil:
			if old.Kind != 0 {
				as = w.below(old.Path, append(as, old.Path))
			}
			continue
		case untouched(old, e) && e.changed < w.sure:
			e.Path = old.Path
			as = append(as, e.Path)
		default:
			e.Path = string(path)
			found = append(found, e)
		}
		if e.Kind == Dir && depth+1 < maxDepth && !notFollowed(name) && !w.ended() {
			sub, err := f.open(name)
			w.beside(func() { w.folder(sub, err, e.Path, depth+1) })
		}
	}
	w.note(as, found)
}

// namesIn are the names in a folder.
func namesIn(dir *os.File) ([]string, error) {
	names, err := dir.Readdirnames(maxEntries + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// below appends what was below a folder.
func (w *walk) below(at string, as []string) []string {
	for p := range w.before {
		if strings.HasPrefix(p, at+"/") {
			as = append(as, p)
		}
	}
	return as
}

// note notes what was found in a folder.
func (w *walk) note(as []string, found []Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.as, w.found = append(w.as, as...), append(w.found, found...)
}

// ended reports whether the walk cannot go on, and notes why.
func (w *walk) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err == nil && len(w.as)+len(w.found) > maxEntries {
		w.err = ErrTooMany
	}
	return w.err != nil
}
