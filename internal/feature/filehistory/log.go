package filehistory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

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
