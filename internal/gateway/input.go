package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// fault is one thing that is wrong with a request, as FastAPI says it.
type fault struct {
	Type  string          `json:"type"`
	Loc   []any           `json:"loc"`
	Msg   string          `json:"msg"`
	Input json.RawMessage `json:"input"`
	Ctx   map[string]any  `json:"ctx,omitempty"`
}

// faults collects what is wrong.
type faults []fault

func (f *faults) add(typ, msg string, input json.RawMessage, loc ...any) *fault {
	*f = append(*f, fault{Type: typ, Loc: loc, Msg: msg, Input: input})
	return &(*f)[len(*f)-1]
}

// err is the answer to a request with faults; nil without any.
func (f *faults) err() error {
	if len(*f) == 0 {
		return nil
	}
	return &Error{Status: http.StatusUnprocessableEntity, Detail: []fault(*f)}
}

// maxDepth bounds the nesting of a JSON body.
const maxDepth = 100

// input is the JSON object of a request. Its methods read members and note what is wrong with them; err has the whole list.
// A member that is null counts as missing.
type input struct {
	faults

	members map[string]json.RawMessage
	at      []any // where the object stands in the request
}

// bodyText reads what a request brings, without white space around it.
func (s *Server) bodyText(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > s.Limits.Body { // it says so itself: not a byte of it is waited for
		w.Header().Set("Connection", "close")
		return nil, &http.MaxBytesError{Limit: s.Limits.Body}
	}
	raw, err := io.ReadAll(s.steady(w, r, s.Limits.Body))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, failf(http.StatusRequestTimeout, "The request came too slowly")
	case err != nil:
		return nil, failf(http.StatusBadRequest, "The request's body cannot be read: %s", clip(err.Error()))
	}
	return bytes.TrimSpace(raw), nil
}

// body reads the JSON object that a request brings. Without one, optional is an empty object and else a fault.
func (s *Server) body(w http.ResponseWriter, r *http.Request, optional bool) (*input, error) {
	in := &input{at: []any{"body"}}
	raw, err := s.bodyText(w, r)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 || string(raw) == "null" {
		if optional {
			return in, nil
		}
		in.add("missing", "Field required", nil, "body")
		return nil, in.err()
	}
	if offset, err := checkJSON(raw); err != nil {
		f := in.add("json_invalid", "JSON decode error", json.RawMessage("{}"), "body", offset)
		f.Ctx = map[string]any{"error": err.Error()}
		return nil, in.err()
	}
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); raw[0] != '{' ||
		err == nil && mt != "application/json" && !strings.HasSuffix(mt, "+json") && !strings.HasPrefix(mt, "text/") {
		in.add("model_attributes_type", "Input should be a valid dictionary or object to extract fields from", quoted(raw), "body")
		return nil, in.err()
	}
	in.members, _ = rawjson.Members(raw)
	return in, nil
}

// checkJSON reports whether raw is one JSON value of valid text, not too deep; offset is where it is not.
func checkJSON(raw []byte) (offset int64, err error) {
	if !utf8.Valid(raw) {
		return 0, errors.New("the text is not UTF-8")
	}
	if s := rawjson.Scan(raw); passes(&s, maxDepth) && s.End() {
		return offset, nil
	}
	return findFault(raw)
}

// passes walks over a value and reports whether there is no fault in it; what follows the value is not looked at.
func passes(s *rawjson.Scanner, depth int) bool {
	switch s.Peek() {
	case '{':
		for name := s.Object(); name != nil; name = s.Next() {
			if depth == 0 || !passes(s, depth-1) {
				return false
			}
		}
		return depth > 0
	case '[':
		for more := s.List(); more; more = s.More() {
			if depth == 0 || !passes(s, depth-1) {
				return false
			}
		}
		return depth > 0
	case '"', 't', 'f', 'n':
		return s.Value() != nil
	}
	_, err := decimal(string(s.Value()))
	return err == nil // what no float64 holds is refused
}

// decimal reads a number as float64.
func decimal(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// findFault is checkJSON for those that have a fault, by tokens: slower, but it knows what is wrong, and where.
func findFault(raw []byte) (offset int64, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) && depth == 0 {
			return offset, nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return dec.InputOffset(), err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth {
			return dec.InputOffset(), fmt.Errorf("nested deeper than %d", maxDepth)
		}
		if depth == 0 && dec.InputOffset() < int64(len(raw)) {
			return dec.InputOffset(), errors.New("extra data")
		}
	}
}

// quoted shows what came, if it is short.
func quoted(raw []byte) json.RawMessage {
	const most = 1000
	if len(raw) <= most && json.Valid(raw) {
		return slices.Clone(raw)
	}
	b, _ := json.Marshal(clip(string(raw)))
	return b
}

func (in *input) loc(name string) []any { return append(slices.Clip(in.at), name) }

// raw returns a member; nil if it is missing or null.
func (in *input) raw(name string) json.RawMessage {
	v := in.members[name]
	if string(v) == "null" {
		return nil
	}
	return v
}

// has reports whether the member is there, null or not.
func (in *input) has(name string) bool { _, ok := in.members[name]; return ok }

func (in *input) str(name string) string {
	v := in.raw(name)
	if v == nil {
		return ""
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		in.add("string_type", "Input should be a valid string", quoted(v), in.loc(name)...)
	}
	return s
}

// oneOf is a string of a few, which are two at least; the first is the default.
func (in *input) oneOf(name string, values ...string) string {
	v := in.raw(name)
	if v == nil {
		return values[0]
	}
	s := in.str(name)
	if !slices.Contains(values, s) {
		last := len(values) - 1
		list := "'" + strings.Join(values[:last], "', '") + "' or '" + values[last] + "'"
		in.add("literal_error", "Input should be "+list, quoted(v), in.loc(name)...).Ctx = map[string]any{"expected": list}
	}
	return s
}

func (in *input) boolean(name string, def bool) bool {
	v := in.raw(name)
	if v == nil {
		return def
	}
	b, ok := truth(unquoted(v))
	if !ok {
		in.add("bool_parsing", badTruth, quoted(v), in.loc(name)...)
	}
	return b
}

const badTruth = "Input should be a valid boolean, unable to interpret input"

// truth reads a truth value as clients write it.
func truth(text string) (is, ok bool) {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true, true
	case "0", "false", "no", "off":
		return false, true
	}
	return false, false
}

// unquoted is a JSON value as text, and of a string that needs no escapes the string.
func unquoted(v json.RawMessage) string { return strings.Trim(string(v), `"`) }

// integer reads a number between least and most. A string of digits counts too, and a number such as 10.0.
func (in *input) integer(name string, def, least, most int) int {
	v := in.raw(name)
	if v == nil {
		return def
	}
	text := unquoted(v)
	if f, err := decimal(text); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		text = strconv.FormatFloat(f, 'f', 0, 64)
	}
	return in.inRange(text, quoted(v), def, least, most, in.loc(name)...)
}

func (f *faults) inRange(text string, shown json.RawMessage, def, least, most int, loc ...any) int {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		f.add("int_parsing", "Input should be a valid integer, unable to parse string as an integer", shown, loc...)
	case n < least:
		f.add("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", least), shown, loc...).Ctx = map[string]any{"ge": least}
	case n > most:
		f.add("less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", most), shown, loc...).Ctx = map[string]any{"le": most}
	default:
		return n
	}
	return def
}

// object returns a member that is a JSON object, for reading; an empty one if it is missing.
func (in *input) object(name string) *input {
	sub := &input{at: in.loc(name)}
	v := in.raw(name)
	if v == nil {
		return sub
	}
	if err := json.Unmarshal(v, &sub.members); err != nil {
		in.add("dict_type", "Input should be a valid dictionary", quoted(v), in.loc(name)...)
	}
	return sub
}

// rawObject returns a member that is a JSON object, as it came on one line; nil if it is missing.
func (in *input) rawObject(name string) json.RawMessage {
	v := in.raw(name)
	if v == nil {
		return nil
	}
	if v[0] != '{' {
		in.add("dict_type", "Input should be a valid dictionary", quoted(v), in.loc(name)...)
		return nil
	}
	var b bytes.Buffer
	_ = json.Compact(&b, v) // it is valid
	return b.Bytes()
}

// names reads a list of strings, or one string as a list of one.
func (in *input) names(name string, most int) []string {
	v := in.raw(name)
	if v == nil {
		return nil
	}
	var list []string
	var one string
	if json.Unmarshal(v, &one) == nil {
		return []string{one}
	}
	if err := json.Unmarshal(v, &list); err != nil {
		in.add("list_type", "Input should be a valid list", quoted(v), in.loc(name)...)
		return nil
	}
	if len(list) > most {
		in.add("too_long", fmt.Sprintf("List should have at most %d items", most), nil, in.loc(name)...)
		return nil
	}
	return list
}

// threadPattern is what a thread's id looks like, and maxThreadID how long it is at most.
const (
	threadPattern = `^[A-Za-z0-9_-]{1,64}$`
	maxThreadID   = 64
)

// threadID reads a thread's id; empty if it is missing.
func (in *input) threadID(name string) string {
	v := in.raw(name)
	text := in.str(name)
	if v != nil && !id.IsName(text, maxThreadID) {
		in.add("string_pattern_mismatch", "String should match pattern '"+threadPattern+"'", quoted(v), in.loc(name)...).
			Ctx = map[string]any{"pattern": threadPattern}
	}
	return text
}

// thread is the thread's id of the path.
func thread(r *http.Request) (string, error) {
	name := r.PathValue("thread_id")
	if id.IsName(name, maxThreadID) {
		return name, nil
	}
	var f faults
	shown, _ := json.Marshal(clip(name))
	f.add("string_pattern_mismatch", "String should match pattern '"+threadPattern+"'", shown, "path", "thread_id").
		Ctx = map[string]any{"pattern": threadPattern}
	return "", f.err()
}

// threadBody reads the thread's id of the path and the body.
func (s *Server) threadBody(w http.ResponseWriter, r *http.Request, optional bool) (id string, in *input, err error) {
	if id, err = thread(r); err != nil {
		return id, nil, err
	}
	in, err = s.body(w, r, optional)
	return id, in, err
}

// query reads the query parameters of a request.
type query struct {
	faults

	r *http.Request
}

func (q *query) str(name string) string { return q.r.URL.Query().Get(name) }

func (q *query) integer(name string, def, least, most int) int {
	text := q.str(name)
	if text == "" {
		return def
	}
	shown, _ := json.Marshal(clip(text))
	return q.inRange(text, shown, def, least, most, "query", name)
}

func (q *query) boolean(name string) bool {
	text := q.str(name)
	b, ok := truth(text)
	if !ok && text != "" {
		shown, _ := json.Marshal(clip(text))
		q.add("bool_parsing", badTruth, shown, "query", name)
	}
	return b
}
