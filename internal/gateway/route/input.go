package route

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/id"
)

// Fault is one thing that is wrong with a request, as FastAPI says it.
type Fault struct {
	Type  string          `json:"type"`
	Loc   []any           `json:"loc"`
	Msg   string          `json:"msg"`
	Input json.RawMessage `json:"input"`
	Ctx   map[string]any  `json:"ctx,omitempty"`
}

// Faults collects what is wrong.
type Faults []Fault

// Add notes a fault: its kind, a sentence, what came, and where that stood.
func (f *Faults) Add(typ, msg string, input json.RawMessage, loc ...any) *Fault {
	*f = append(*f, Fault{Type: typ, Loc: loc, Msg: msg, Input: input})
	return &(*f)[len(*f)-1]
}

// Err is the answer to a request with faults; nil without any.
func (f *Faults) Err() error {
	if len(*f) == 0 {
		return nil
	}
	return &Error{Status: http.StatusUnprocessableEntity, Detail: []Fault(*f)}
}

// Input is the JSON object of a request. Its methods read members and note what is wrong with them; err has the whole
// list. A member that is null counts as missing.
type Input struct {
	Faults

	Members map[string]json.RawMessage
	// Elements are those of a body that is a list.
	Elements []json.RawMessage
	// At is where the object stands in the request.
	At []any

	request *http.Request
}

// Request is the request that the object came with; an empty one if it came with none.
func (in *Input) Request() *http.Request {
	if in.request == nil {
		return &http.Request{}
	}
	return in.request
}

// Element is the object that stands at a place of a list, for reading; the error is the answer to what is none.
func (in *Input) Element(i int, raw json.RawMessage) (*Input, error) {
	sub := &Input{At: append(slices.Clip(in.At), i), request: in.request}
	if json.Unmarshal(raw, &sub.Members) != nil {
		sub.Add("model_attributes_type", "Input should be a valid dictionary or object to extract fields from",
			Quoted(raw), sub.At...)
	}
	return sub, sub.Err()
}

// Take adds the faults of an object inside.
func (in *Input) Take(sub *Input) { in.Faults = append(in.Faults, sub.Faults...) }

// Quoted shows what came, if it is short.
func Quoted(raw []byte) json.RawMessage {
	const most = 1000
	if len(raw) <= most && json.Valid(raw) {
		return slices.Clone(raw)
	}
	b, _ := json.Marshal(Clip(string(raw)))
	return b
}

// Loc is where a member stands.
func (in *Input) Loc(name string) []any { return append(slices.Clip(in.At), name) }

// Raw returns a member; nil if it is missing or null.
func (in *Input) Raw(name string) json.RawMessage {
	v := in.Members[name]
	if string(v) == "null" {
		return nil
	}
	return v
}

// Has reports whether the member is there, null or not.
func (in *Input) Has(name string) bool { _, ok := in.Members[name]; return ok }

// Str is a string; empty if it is missing.
func (in *Input) Str(name string) string {
	v := in.Raw(name)
	if v == nil {
		return ""
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		in.Add("string_type", "Input should be a valid string", Quoted(v), in.Loc(name)...)
	}
	return s
}

// OneOf is a string of a few, which are two at least; the first is the default.
func (in *Input) OneOf(name string, values ...string) string {
	v := in.Raw(name)
	if v == nil {
		return values[0]
	}
	s := in.Str(name)
	if !slices.Contains(values, s) {
		last := len(values) - 1
		list := "'" + strings.Join(values[:last], "', '") + "' or '" + values[last] + "'"
		in.Add("literal_error", "Input should be "+list, Quoted(v),
			in.Loc(name)...).Ctx = map[string]any{"expected": list}
	}
	return s
}

// Boolean reads a truth value as clients write it.
func (in *Input) Boolean(name string, def bool) bool {
	v := in.Raw(name)
	if v == nil {
		return def
	}
	b, ok := truth(Unquoted(v))
	if !ok {
		in.Add("bool_parsing", badTruth, Quoted(v), in.Loc(name)...)
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

// Unquoted is a JSON value as text, and of a string that needs no escapes the string.
func Unquoted(v json.RawMessage) string { return strings.Trim(string(v), `"`) }

// Integer reads a number between least and most. A string of digits counts too, and a number such as 10.0.
func (in *Input) Integer(name string, def, least, most int) int {
	v := in.Raw(name)
	if v == nil {
		return def
	}
	text := Unquoted(v)
	if f, err := Decimal(text); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		text = strconv.FormatFloat(f, 'f', 0, 64)
	}
	return in.inRange(text, Quoted(v), def, least, most, in.Loc(name)...)
}

func (f *Faults) inRange(text string, shown json.RawMessage, def, least, most int, loc ...any) int {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		f.Add("int_parsing", "Input should be a valid integer, unable to parse string as an integer", shown, loc...)
	case n < least:
		f.Add("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", least), shown,
			loc...).Ctx = map[string]any{"ge": least}
	case n > most:
		f.Add("less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", most), shown,
			loc...).Ctx = map[string]any{"le": most}
	default:
		return n
	}
	return def
}

// Object returns a member that is a JSON object, for reading; an empty one if it is missing.
func (in *Input) Object(name string) *Input {
	sub := &Input{At: in.Loc(name), request: in.request}
	v := in.Raw(name)
	if v == nil {
		return sub
	}
	if err := json.Unmarshal(v, &sub.Members); err != nil {
		in.Add("dict_type", "Input should be a valid dictionary", Quoted(v), in.Loc(name)...)
	}
	return sub
}

// RawObject returns a member that is a JSON object, as it came on one line; nil if it is missing.
func (in *Input) RawObject(name string) json.RawMessage {
	v := in.Raw(name)
	if v == nil {
		return nil
	}
	if v[0] != '{' {
		in.Add("dict_type", "Input should be a valid dictionary", Quoted(v), in.Loc(name)...)
		return nil
	}
	var b bytes.Buffer
	_ = json.Compact(&b, v) // it is valid
	return b.Bytes()
}

// Names reads a list of strings, or one string as a list of one.
func (in *Input) Names(name string, most int) []string {
	v := in.Raw(name)
	if v == nil {
		return nil
	}
	var list []string
	var one string
	if json.Unmarshal(v, &one) == nil {
		return []string{one}
	}
	if err := json.Unmarshal(v, &list); err != nil {
		in.Add("list_type", "Input should be a valid list", Quoted(v), in.Loc(name)...)
		return nil
	}
	if len(list) > most {
		in.Add("too_long", fmt.Sprintf("List should have at most %d items", most), nil, in.Loc(name)...)
		return nil
	}
	return list
}

// Demand notes a fault if a member is missing.
func (in *Input) Demand(name string) {
	if in.Raw(name) == nil {
		in.Add("missing", "Field required", json.RawMessage("null"), in.Loc(name)...)
	}
}

// threadPattern is what a thread's id looks like, and maxThreadID how long it is at most.
const (
	threadPattern = `^[A-Za-z0-9_-]{1,64}$`
	maxThreadID   = 64
)

// ThreadID reads a thread's id; empty if it is missing.
func (in *Input) ThreadID(name string) string {
	v := in.Raw(name)
	text := in.Str(name)
	if v != nil && !id.IsName(text, maxThreadID) {
		in.Add("string_pattern_mismatch", "String should match pattern '"+threadPattern+"'", Quoted(v),
			in.Loc(name)...).
			Ctx = map[string]any{"pattern": threadPattern}
	}
	return text
}
