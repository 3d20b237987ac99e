package golden

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Recording is one trace.
type Recording struct {
	// Name is the set and the trace: "gateway/10-thread-create", "langgraph/48a-multitask-reject".
	Name      string
	Exchanges []Exchange
}

// Set is where the recording is from: "gateway" or "langgraph".
func (r *Recording) Set() string {
	set, _, _ := strings.Cut(r.Name, "/")
	return set
}

// Exchange is one request with what its response must be like. Strings of it may hold variables, written ${name}: those
// named n1, n2, ... stand for ids that the client made up, those named c1, c2, ... for ids that the server gave.
type Exchange struct {
	N      int    `json:"n"` // its number in the trace
	Method string `json:"method"`
	Path   string `json:"path"`
	// Headers are the headers that matter, beside the content type of a JSON body.
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`

	// LeftOut exchanges have nothing beyond this.
	LeftOut bool `json:"left_out,omitempty"`

	Status int `json:"status,omitempty"`
	// Heads are the response's headers: patterns, in which * stands for anything.
	Heads map[string]string `json:"heads,omitempty"`
	// JSON is the shape of a JSON body.
	JSON *Shape `json:"json,omitempty"`
	// Stream is the shape of an event stream.
	Stream *Stream `json:"stream,omitempty"`

	// NeedsThread and NeedsRun are variables of a thread and of an ended run in it that were there before the trace
	// began.
	NeedsThread string `json:"needs_thread,omitempty"`
	NeedsRun    string `json:"needs_run,omitempty"`

	// Overlaps: the next request was sent before this response was over.
	Overlaps bool `json:"overlaps,omitempty"`
	// HangUp: the client left after so many events.
	HangUp int `json:"hang_up,omitempty"`
}

// Route is the method and the path without the query, ids replaced by {id}.
func (e *Exchange) Route() string {
	path, _, _ := strings.Cut(e.Path, "?")
	return e.Method + " " + variable.ReplaceAllString(path, "{id}")
}

var variable = regexp.MustCompile(`\$\{([a-z]\d+)\}`)

// Read reads all recordings in a folder, sorted by name.
func Read(dir string) ([]Recording, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var list []Recording
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return nil, err
		}
		r := Recording{Name: strings.TrimSuffix(filepath.ToSlash(name), ".jsonl")}
		if r.Exchanges, err = decode(raw); err != nil {
			return nil, fmt.Errorf("read recording %s: %w", file, err)
		}
		list = append(list, r)
	}
	return list, nil
}

func decode(raw []byte) (list []Exchange, err error) {
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e Exchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(list)+1, err)
		}
		list = append(list, e)
	}
	return list, lines.Err()
}

// Write writes a recording into its file below dir.
func Write(dir string, r *Recording) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range r.Exchanges {
		if err := enc.Encode(&r.Exchanges[i]); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, filepath.FromSlash(r.Name)+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o600)
}
