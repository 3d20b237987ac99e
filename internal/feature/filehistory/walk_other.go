//go:build !linux

package filehistory

import "os"

// folder is an open folder, which no link has led to.
type folder struct{ root *os.Root }

// openFolder opens a folder below a root.
func openFolder(root *os.Root, name string) (folder, error) {
	in, err := root.OpenRoot(name + "/.") // as a folder, or not at all: opening a FIFO waits
	return folder{in}, err
}

func (f folder) close() { f.root.Close() }

// open opens a folder in a folder.
func (f folder) open(name string) (folder, error) { return openFolder(f.root, name) }

func (f folder) names() ([]string, error) {
	h, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return namesIn(h)
}

// look is what a stat tells of a name, all but its path. A link is not followed.
func (f folder) look(name string) (Entry, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return Entry{}, err
	}
	return entryOf(info, ""), nil
}
