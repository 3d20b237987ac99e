package sandbox

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
)

const (
	// removeDepth is how many folders a removal has open at once, each with two descriptors at most.
	removeDepth = 12
	// removeBatch is how many entries of a folder it looks at together.
	removeBatch = 1024
)

// RemoveAll removes a tree that an agent has made, however deep it is and whatever it has closed to its owner: what
// lies deeper than a few folders is moved up before it is removed, so that few descriptors are enough. That there is
// nothing is no error. Nobody may be at work in the tree. What cannot be removed stays, with the first reason for it as
// the error.
func RemoveAll(root *os.Root, name string) error {
	return removal{root: root, top: name}.entry(root, name, name, 0)
}

type removal struct {
	root *os.Root
	top  string
}

// entry removes what has a name in a folder; at is its path below the root.
func (r removal) entry(in *os.Root, name, at string, depth int) error {
	info, err := in.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.IsDir():
		return in.Remove(name)
	case err != nil:
		return err
	}
	if info.Mode()&0o700 != 0o700 {
		_ = in.Chmod(name, 0o700) // opening it tells
	}
	if depth > removeDepth {
		return r.root.Rename(at, r.top+"/"+rand.Text())
	}
	dir, err := in.OpenRoot(asFolder(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := r.content(dir, at, depth+1); err != nil {
		return err
	}
	return in.Remove(name)
}

// content removes all that is in a folder, also what comes to the top one meanwhile.
func (r removal) content(dir *os.Root, at string, depth int) error {
	for {
		names, err := someNames(dir)
		if err != nil {
			return err
		}
		var first error
		removed := 0
		for _, name := range names {
			if err := r.entry(dir, name, at+"/"+name, depth); err == nil {
				removed++
			} else if first == nil {
				first = err
			}
		}
		if removed == 0 {
			return first
		}
	}
}

func someNames(dir *os.Root) ([]string, error) {
	h, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer h.Close()
	names, err := h.Readdirnames(removeBatch)
	if err == io.EOF {
		err = nil
	}
	return names, err
}
