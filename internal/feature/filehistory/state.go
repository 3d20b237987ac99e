package filehistory

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// head is the first line of a state, and, behind a "=", of each part that was appended to it.
type head struct {
	// Seq is the number of the last batch; At is when the files were looked at.
	Seq int64 `json:"seq"`
	At  int64 `json:"at"`
	// Run is at work: what is found to have changed since is its doing. Empty if none is.
	Run string `json:"run,omitempty"`
	// Bytes and Count are those of the copies. Full says that trimming them has made no room.
	Bytes   int64 `json:"bytes"`
	Count   int   `json:"count"`
	Full    bool  `json:"full,omitempty"`
	Entries int   `json:"entries"`
	// Lines are those of an appended part: what has become of so many paths.
	Lines int `json:"lines,omitempty"`
}

// state is what a thread's files were at the last look. In its file there is one line for each path; what has changed
// since is appended, until that outweighs the rest and all is written anew.
type state struct {
	head

	tree  tree
	fresh bool            // there was no look yet
	dirty map[string]bool // the paths that the file does not have as they are
	// base and size are the bytes of the file, as it was written anew and with what was appended. whole says that
	// nothing can be appended to it.
	base, size int64
	whole      bool
	info       fs.FileInfo // of the file that it was read from
}

func (st *state) isOf(info fs.FileInfo) bool {
	return st.info != nil && os.SameFile(st.info, info) && st.info.ModTime().Equal(info.ModTime()) &&
		st.info.Size() == info.Size()
}

// drop removes a path.
func (st *state) drop(p string) {
	delete(st.tree, p)
	st.dirty[p] = true
}

// readState reads a state. Where there is none, or half of one after a power cut, the next look is the first.
func readState(dir *os.Root) (*state, error) {
	raw, err := dir.ReadFile(stateName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if st, ok := parseState(string(raw)); ok {
		return st, nil
	}
	return &state{tree: tree{}, dirty: make(map[string]bool), fresh: true, whole: true}, nil
}

// parseState reads the state, and what was appended as far as that is whole.
func parseState(raw string) (*state, bool) {
	st := &state{tree: tree{}, dirty: make(map[string]bool)}
	first, rest, ok := strings.Cut(raw, "\n")
	if !ok || json.Unmarshal([]byte(first), &st.head) != nil || st.Entries < 0 || st.Entries > 2*maxEntries {
		return nil, false
	}
	for range st.Entries {
		var line string
		line, rest, ok = strings.Cut(rest, "\n")
		e, err := parseEntry(line)
		if !ok || err != nil || e.Kind == 0 {
			return nil, false
		}
		st.tree[e.Path] = e
	}
	st.base = int64(len(raw) - len(rest))
	good := len(st.tree) == st.Entries
	for good && rest != "" {
		rest, ok = st.parsePart(rest)
		if good = len(st.tree) == st.Entries; !ok {
			break
		}
	}
	st.size = int64(len(raw) - len(rest))
	st.whole = rest != ""
	return st, good
}

// parsePart reads what was appended at once. Of a part that was cut off nothing is taken.
func (st *state) parsePart(raw string) (rest string, ok bool) {
	first, rest, ok := strings.Cut(raw, "\n")
	var h head
	if !ok || !strings.HasPrefix(first, "=") || json.Unmarshal([]byte(first[1:]), &h) != nil || h.Lines < 0 ||
		h.Lines > 4*maxEntries {
		return raw, false
	}
	var list []Entry // one without a kind is gone
	for range h.Lines {
		var line string
		line, rest, ok = strings.Cut(rest, "\n")
		e, err := parseLine(line)
		if !ok || err != nil {
			return raw, false
		}
		list = append(list, e)
	}
	for _, e := range list {
		if st.tree[e.Path] = e; e.Kind == 0 {
			delete(st.tree, e.Path)
		}
	}
	st.head = h
	return rest, true
}

// gone begins the line of a path that is no more.
const gone = "- "

// parseLine reads what has become of a path.
func parseLine(line string) (Entry, error) {
	quoted, ok := strings.CutPrefix(line, gone)
	if !ok {
		e, err := parseEntry(line)
		if err == nil && e.Kind == 0 {
			err = errEntry
		}
		return e, err
	}
	path, err := strconv.Unquote(quoted)
	if err == nil && !inside(path) {
		err = errEntry
	}
	return Entry{Path: path}, err
}

// maxAppended is how many bytes are appended to a state that has fewer itself.
const maxAppended = 64 << 10

// write brings the file up to the state. Like the files that it is about, it is on the disk when the system writes it.
func (st *state) write(dir *os.Root) error {
	st.Entries = len(st.tree)
	write := st.append
	if st.whole || st.size > 2*st.base+maxAppended {
		write = st.rewrite
	}
	err := write(dir)
	if err == nil {
		clear(st.dirty)
	}
	return err
}

// append adds what has changed behind the rest, with one write. What a crash leaves of that is not read.
func (st *state) append(dir *os.Root) error {
	st.Lines = len(st.dirty)
	first, err := json.Marshal(st.head)
	if err != nil {
		return err
	}
	b := append(append([]byte("="), first...), '\n')
	for p := range st.dirty {
		if e, ok := st.tree[p]; ok {
			b = e.append(b)
		} else {
			b = strconv.AppendQuote(append(b, gone...), p)
		}
		b = append(b, '\n')
	}
	f, err := dir.OpenFile(stateName, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	st.size += int64(len(b))
	return errors.Join(err, f.Close())
}

// rewrite puts the state in the place of the last one.
func (st *state) rewrite(dir *os.Root) error {
	st.Lines = 0
	first, err := json.Marshal(st.head)
	if err != nil {
		return err
	}
	b := append(make([]byte, 0, 200*(1+len(st.tree))), first...)
	b = append(b, '\n')
	for _, e := range st.tree {
		b = append(e.append(b), '\n')
	}
	f, err := dir.OpenFile(stateName+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	st.base, st.size, st.whole = int64(len(b)), int64(len(b)), false
	return dir.Rename(stateName+".part", stateName)
}
