package replay

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
)

// Encode writes a recording as YAML.
func Encode(r *Recording) ([]byte, error) { return encode(r, MaxSize) }

// encode writes a recording of at most so many bytes.
func encode(r *Recording, most int) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# A recorded run of Pudu. Run it again with: pudu replay FILE\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(r), enc.Close()); err != nil {
		return nil, fmt.Errorf("write recording: %w", err)
	}
	if b.Len() > most {
		return nil, UnfitError(fmt.Sprintf("the recording is larger than %d MiB: record a shorter run", most>>20))
	}
	return b.Bytes(), nil
}

// Load reads a file. An error begins with its name and, where there is one, the line.
func Load(name string) (*Recording, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxSize {
		return nil, fmt.Errorf("%s: not a regular file of at most %d MiB", name, MaxSize>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	return Parse(name, data)
}

// Parse reads a recording. name is for errors.
func Parse(name string, data []byte) (*Recording, error) {
	r, line, err := parse(data)
	switch {
	case err == nil:
		return r, nil
	case line > 0:
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

func parse(data []byte) (_ *Recording, line int, err error) {
	if len(data) > MaxSize {
		return nil, 0, fmt.Errorf("larger than %d MiB", MaxSize>>20)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		line, err := split(err)
		return nil, line, fmt.Errorf("damaged: %w", err)
	}
	if line, err := checkVersion(&doc); err != nil {
		return nil, line, err
	}
	var r Recording
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&r); err != nil {
		line, err := split(err)
		return nil, line, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, 0, errors.New("a second document follows the recording; one file holds one")
	}
	for _, channels := range []map[string]Value{r.Before, r.After.Channels} {
		for name, v := range channels {
			if v.IsZero() {
				channels[name] = Value("null")
			}
		}
	}
	if at, err := r.check(); err != nil {
		return nil, lineOf(&doc, at...), err
	}
	return &r, 0, nil
}

// split takes the line out of a decoder's error and the names of Go types with it.
func split(err error) (line int, _ error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if list, ok := errors.AsType[*yaml.TypeError](err); ok && len(list.Errors) > 0 {
		text = list.Errors[0]
	}
	text, _, _ = strings.Cut(text, " in type replay.")
	if n, _ := fmt.Sscanf(text, "line %d: ", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return line, errors.New(strings.ReplaceAll(text, "replay.", ""))
}

func checkVersion(doc *yaml.Node) (line int, _ error) {
	if len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode {
		top := doc.Content[0]
		for i := 0; i+1 < len(top.Content); i += 2 {
			if top.Content[i].Value != "pudu_replay" {
				continue
			}
			if v := top.Content[i+1]; v.Value != strconv.Itoa(Version) {
				return v.Line,
					fmt.Errorf("the recording has version %.20q, this Pudu reads version %d; record it again with "+
						"this Pudu", v.Value, Version)
			}
			return 0, nil
		}
	}
	return 1, fmt.Errorf(`this is no recording: it has no "pudu_replay: %d"; make one with: pudu export THREAD --test`,
		Version)
}

// lineOf is the line of what a path of keys and indexes leads to, or of the last thing on the way; 0 for none.
func lineOf(doc *yaml.Node, at ...any) int {
	n := doc
	if len(doc.Content) > 0 {
		n = doc.Content[0]
	}
	for _, step := range at {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n.Line
}

func child(n *yaml.Node, step any) *yaml.Node {
	switch s := step.(type) {
	case int:
		if s < len(n.Content) {
			return n.Content[s]
		}
	case string:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// check finds what no run could have recorded, and says where it stands.
func (r *Recording) check() (at []any, err error) {
	if r.Run == "" {
		return nil, errors.New(`"run" is missing: the id of the recorded run`)
	}
	if len(r.Input) == 0 {
		return []any{"input"}, errors.New(`"input" is missing: the messages that the run began with`)
	}
	if i, err := checkMessages(r.Input, ""); err != nil {
		return []any{"input", i}, err
	}
	for i, f := range r.Files {
		if err := f.check(); err != nil {
			return []any{"files", i}, err
		}
	}
	for i := range r.Turns {
		if at, err := r.Turns[i].check(); err != nil {
			return append([]any{"turns", i}, at...), fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	switch r.After.Status {
	case "":
		return nil, errors.New(`"after" or its "status" is missing; was the file cut off?`)
	case event.StatusSuccess, event.StatusError, event.StatusInterrupted:
		return nil, nil
	}
	return []any{"after", "status"}, fmt.Errorf("status %.40q is no end of a run: it must be %s, %s or %s",
		r.After.Status, event.StatusSuccess, event.StatusError, event.StatusInterrupted)
}

func (f File) check() error {
	clean, err := sandbox.CleanPath(f.Path)
	if err != nil || clean != f.Path || path.Dir(f.Path) == sandbox.UserData ||
		!strings.HasPrefix(f.Path, sandbox.UserData+"/") {
		return fmt.Errorf("path %.100q is not one of a file below %s", f.Path, sandbox.UserData)
	}
	_, err = f.content()
	return err
}

// content is the file's bytes; nil when they are missing.
func (f File) content() ([]byte, error) {
	if f.missing() {
		return nil, nil
	}
	if f.Base64 == "" {
		return []byte(f.Text), nil
	}
	raw, err := base64.StdEncoding.DecodeString(string(f.Base64))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return raw, nil
}

func (f File) missing() bool { return f.SHA256 != "" }

// checkMessages finds the first one that is no message, or not of the role, if one is given.
func checkMessages(list []Value, role message.Role) (at int, err error) {
	for i, raw := range list {
		var m message.Message
		if err := m.UnmarshalJSON(raw); err != nil {
			return i, err
		}
		if role != "" && m.Role != role {
			return i, fmt.Errorf("only messages of type %s are said to a run, and this one is of type %s", role, m.Role)
		}
	}
	return 0, nil
}

func (t *Turn) check() (at []any, err error) {
	if i, err := checkMessages(t.Said, message.Human); err != nil {
		return []any{"said", i}, err
	}
	for key, v := range map[string]Value{"metadata": t.Metadata, "kwargs": t.Kwargs} {
		if !isObject(v) {
			return []any{key}, fmt.Errorf("%s must have keys and values", key)
		}
	}
	if t.Error != nil {
		if err := t.Error.check(); err != nil {
			return []any{"error"}, err
		}
	}
	for i, c := range t.Calls {
		if err := c.check(); err != nil {
			return []any{"calls", i}, fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil, nil
}

func (f *Failure) check() error {
	if _, err := f.wait(); err != nil {
		return fmt.Errorf("retry_after: %w", err)
	}
	classes := []model.Class{"", model.ClassAuth, model.ClassQuota, model.ClassRateLimit, model.ClassBurst,
		model.ClassBusy,
		model.ClassTransient, model.ClassContextLength, model.ClassNotFound, model.ClassTooLarge, model.ClassBadRequest}
	if !slices.Contains(classes, model.Class(f.Class)) {
		return fmt.Errorf("class %.40q is unknown; use one of %v", f.Class, classes[1:])
	}
	return nil
}

func (f *Failure) wait() (time.Duration, error) {
	return time.ParseDuration(cmp.Or(f.RetryAfter, "0s"))
}

func (c *Call) check() error {
	switch {
	case c.ID == "":
		return errors.New(`"id" is missing`)
	case c.RawArgs == nil && !isObject(c.Args):
		return errors.New("args must have keys and values; arguments that are no JSON object are written as raw_args")
	case !isObject(c.Extra):
		return errors.New("extra must have keys and values")
	case c.Result != nil && c.Result.Status != message.StatusSuccess && c.Result.Status != message.StatusError:
		return fmt.Errorf("status %.40q of the result is neither %s nor %s", c.Result.Status, message.StatusSuccess,
			message.StatusError)
	}
	return nil
}

// isObject reports whether a value is a JSON object, or none.
func isObject(v Value) bool { return len(v) == 0 || v[0] == '{' && json.Valid(v) }
