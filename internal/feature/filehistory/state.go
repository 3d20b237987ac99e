package filehistory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// head is the first line of a state.
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
}

// state is what a thread's files were at the last look.
type state struct {
	head

	tree  tree
	fresh bool        // there was no look yet
	info  fs.FileInfo // of the file that it was read from
}

func (st *state) isOf(info fs.FileInfo) bool {
	return st.info != nil && os.SameFile(st.info, info) && st.info.ModTime().Equal(info.ModTime()) && st.info.Size() == info.Size()
}

// readState reads a state. Where there is none, or half of one after a power cut, the next look is the first.
func readState(dir *os.Root) (*state, error) {
	raw, err := dir.ReadFile(stateName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if st, ok := parseState(raw); ok {
		return st, nil
	}
	return &state{tree: tree{}, fresh: true}, nil
}

func parseState(raw []byte) (*state, bool) {
	first, rest, _ := bytes.Cut(raw, []byte("\n"))
	st := &state{tree: tree{}}
	if json.Unmarshal(first, &st.head) != nil || st.Entries < 0 || st.Entries > 2*maxEntries {
		return nil, false
	}
	for line := range strings.Lines(string(rest)) {
		e, err := parseEntry(strings.TrimSuffix(line, "\n"))
		if err != nil || e.Kind == 0 {
			return nil, false
		}
		st.tree[e.Path] = e
	}
	return st, len(st.tree) == st.Entries
}

// write puts the state in the place of the last one. Like the files that it is about, it is on the disk when the system writes it.
func (st *state) write(dir *os.Root) error {
	st.Entries = len(st.tree)
	first, err := json.Marshal(st.head)
	if err != nil {
		return err
	}
	f, err := dir.OpenFile(stateName+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	_, _ = w.Write(append(first, '\n')) // Flush tells
	var line []byte
	for _, e := range st.tree {
		line = append(e.append(line[:0]), '\n')
		_, _ = w.Write(line)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	return dir.Rename(stateName+".part", stateName)
}

// Batch is what one call, upload or person changed, or what was found to have changed between them.
type Batch struct {
	Seq int64 `json:"seq"`
	// At is when it was found, in milliseconds since 1970.
	At int64 `json:"at"`
	Origin

	Changes []Change `json:"changes"`
	// Lost says that there were more changes than are kept.
	Lost bool `json:"lost,omitempty"`
}

const (
	// maxLog bounds the log of a run, maxLogs those of a thread, in bytes and in their number.
	maxLog     = 16 << 20
	maxLogs    = 64 << 20
	maxLogRuns = 1000
	// between is the log of what was changed outside of runs.
	between = "between"
)

// logName is the file of a run's log.
func logName(run string) string {
	if run == "" {
		run = between
	}
	return runsName + "/" + run + ".jsonl"
}

// add writes a batch into the log of its run. A line that a crash has cut off is ended first.
func (s *session) add(b Batch) error {
	name := logName(b.Run)
	f, err := s.dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.dir.MkdirAll(runsName, 0o700); err == nil {
			f, err = s.dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	line, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if info.Size()+int64(len(line)) > maxLog {
		b.Changes, b.Lost = nil, true
		if line, err = json.Marshal(b); err != nil {
			return err
		}
	}
	if last := make([]byte, 1); info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	if _, err = f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}

// batches are those of a run's log. Lines that a crash has cut off are passed over.
func (s *session) batches(run string) ([]Batch, error) { return s.batchesOf(logName(run)) }

func (s *session) batchesOf(name string) (list []Batch, err error) {
	raw, err := s.dir.ReadFile(name)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	for line := range bytes.Lines(raw) {
		var b Batch
		if json.Unmarshal(line, &b) == nil && b.Seq > 0 {
			list = append(list, b)
		}
	}
	return list, nil
}

// logs are the names of all logs.
func (s *session) logs() ([]string, error) {
	list, err := fs.ReadDir(s.dir.FS(), runsName)
	var names []string
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, runsName+"/"+e.Name())
		}
	}
	return names, ignoreMissing(err)
}

// all are the batches of all logs, oldest first.
func (s *session) all() (list []Batch, err error) {
	names, err := s.logs()
	for _, name := range names {
		if err != nil {
			break
		}
		var more []Batch
		more, err = s.batchesOf(name)
		list = append(list, more...)
	}
	sortBatches(list)
	return list, err
}
