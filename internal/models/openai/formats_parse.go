package openai

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/model"
)

// objectCall is a call as JSON; its arguments have two names in use.
type objectCall struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
}

func (c *objectCall) call() textCall {
	raw := c.Arguments
	if rawjson.IsNull(raw) {
		raw = c.Parameters
	}
	args, ok := rawjson.String(raw) // several models write the arguments as a string of JSON
	if !ok {
		args = string(raw)
	}
	if args == "null" {
		args = ""
	}
	return textCall{id: c.ID, name: c.Name, args: args}
}

// parseObjects reads objects one after the other, with sep between them.
func parseObjects(s, sep string) (out []textCall, v verdict) {
	for {
		var c objectCall
		d := json.NewDecoder(strings.NewReader(s))
		switch err := d.Decode(&c); {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil, unfinished
		case err != nil || c.Name == "":
			return nil, broken
		}
		out = append(out, c.call())
		s = strings.TrimLeft(s[d.InputOffset():], space)
		s = strings.TrimLeft(strings.TrimPrefix(s, sep), space)
		if s == "" {
			return out, complete
		}
		if s[0] != '{' {
			return nil, broken
		}
	}
}

func parseLlama(inner string, _ []model.Tool) ([]textCall, verdict) { return parseObjects(inner, ";") }

// parseMistral reads a list of objects, or names with arguments, each but the first behind a marker of its own.
func parseMistral(inner string, _ []model.Tool) (out []textCall, v verdict) {
	s := strings.Trim(inner, space)
	if strings.HasPrefix(s, "[") {
		var list []objectCall
		if err := json.Unmarshal([]byte(s), &list); err != nil {
			return nil, broken
		}
		for i := range list {
			if list[i].Name == "" {
				return nil, broken
			}
			out = append(out, list[i].call())
		}
		return out, complete
	}
	for one := range strings.SplitSeq(s, "[TOOL_CALLS]") {
		brace := strings.IndexByte(one, '{')
		if brace < 0 {
			return nil, broken
		}
		name, id, _ := strings.Cut(strings.ReplaceAll(one[:brace], "[ARGS]", ""), "[CALL_ID]")
		out = append(out, textCall{id: strings.Trim(id, space), name: strings.Trim(name, space),
			args: strings.Trim(one[brace:], space)})
	}
	return out, complete
}

// tokenForm is a list of calls between special tokens.
type tokenForm struct {
	open, sep, close string
	name             func(head string) string
}

var (
	deepseekCalls = tokenForm{open: "<｜tool▁call▁begin｜>", sep: "<｜tool▁sep｜>", close: "<｜tool▁call▁end｜>",
		name: strings.TrimSpace}
	kimiCalls = tokenForm{open: "<|tool_call_begin|>", sep: "<|tool_call_argument_begin|>",
		close: "<|tool_call_end|>", name: kimiName}
)

// kimiName is the name in "functions.name:0".
func kimiName(head string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(head), "functions."), ":")
	return name
}

func (t tokenForm) parse(inner string, _ []model.Tool) (out []textCall, v verdict) {
	for s := strings.TrimLeft(inner, space); s != ""; s = strings.TrimLeft(s, space) {
		body, ok := strings.CutPrefix(s, t.open)
		if !ok {
			return nil, broken
		}
		if body, s, ok = strings.Cut(body, t.close); !ok {
			return nil, unfinished
		}
		c, ok := t.call(body)
		if !ok {
			return nil, broken
		}
		out = append(out, c)
	}
	return out, complete
}

// call reads one call: "name sep {…}", or in DeepSeek's older way "function sep name" and the arguments in a fence.
func (t tokenForm) call(body string) (textCall, bool) {
	head, args, ok := strings.Cut(body, t.sep)
	args = strings.Trim(args, space)
	if name, fenced, older := strings.Cut(args, "```json"); older && t.sep == deepseekCalls.sep &&
		!strings.HasPrefix(args, "{") {
		head, args = name, strings.Trim(strings.TrimSuffix(fenced, "```"), space)
	}
	c := textCall{name: t.name(head), args: args}
	if strings.HasPrefix(strings.TrimSpace(head), "functions.") {
		c.id = strings.TrimSpace(head)
	}
	return c, ok && c.name != ""
}

// rescue takes the first call of a list that is cut off.
func (t tokenForm) rescue(inner string) (textCall, bool) {
	body, ok := strings.CutPrefix(strings.TrimLeft(inner, space), t.open)
	if !ok {
		return textCall{}, false
	}
	return t.call(body)
}

// tagForm is a list of functions with a tag for each parameter.
type tagForm struct {
	open, name   string // name ends the opening tag of a function
	param, key   string // and key that of a parameter
	value, close string // what closes a parameter and a function
}

var (
	functionForm = tagForm{open: "<function=", name: ">", param: "<parameter=", key: ">", value: "</parameter>",
		close: "</function>"}
	invokes = tagForm{open: `<invoke name="`, name: `">`, param: `<parameter name="`, key: `">`,
		value: "</parameter>", close: "</invoke>"}
	dsml = tagForm{open: `<｜DSML｜invoke name="`, name: `">`, param: `<｜DSML｜parameter name="`, key: `">`,
		value: "</｜DSML｜parameter>", close: "</｜DSML｜invoke>"}
)

func (t tagForm) parse(inner string, tools []model.Tool) (out []textCall, v verdict) {
	for s := strings.TrimLeft(inner, space); s != ""; s = strings.TrimLeft(s, space) {
		name, rest, ok := cutTag(s, t.open, t.name)
		if !ok {
			return nil, broken
		}
		a := arguments{types: typesOf(tools, name)}
		for {
			rest = strings.TrimLeft(rest, space)
			if after, ok := strings.CutPrefix(rest, t.close); ok {
				s = after
				break
			}
			if strings.HasPrefix(t.close, rest) || strings.HasPrefix(t.param, rest) {
				return nil, unfinished
			}
			key, value, ok := cutTag(rest, t.param, t.key)
			if !ok {
				return nil, broken
			}
			if value, rest, ok = t.cutValue(value); !ok {
				return nil, unfinished
			}
			a.add(key, value)
		}
		out = append(out, textCall{name: name, args: a.json()})
	}
	return out, complete
}

// cutTag reads a tag that holds a name.
func cutTag(s, open, end string) (name, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, open)
	if !ok {
		return "", "", false
	}
	name, rest, ok = strings.Cut(s, end)
	return strings.Trim(name, space), rest, ok && strings.Trim(name, space) != ""
}

// cutValue ends a value where another parameter or the function's end follows, so that a value may hold its own end.
func (t tagForm) cutValue(s string) (value, rest string, ok bool) {
	for at := 0; ; at += len(t.value) {
		n := strings.Index(s[at:], t.value)
		if n < 0 {
			return "", "", false
		}
		at += n
		rest = s[at+len(t.value):]
		if next := strings.TrimLeft(rest, space); strings.HasPrefix(next, t.param) || strings.HasPrefix(next, t.close) {
			return s[:at], rest, true
		}
	}
}

// parseGLM reads a name and its pairs of <arg_key> and <arg_value>.
func parseGLM(s string, tools []model.Tool) ([]textCall, verdict) {
	n := nameLen([]byte(s))
	name, rest := s[:n], strings.Trim(s[n:], space)
	if name == "" {
		return nil, broken
	}
	a := arguments{types: typesOf(tools, name)}
	for rest != "" {
		key, after, ok := cutTag(rest, "<arg_key>", "</arg_key>")
		if !ok {
			return nil, broken
		}
		after, ok = strings.CutPrefix(strings.TrimLeft(after, space), "<arg_value>")
		if !ok {
			return nil, broken
		}
		value, more, ok := strings.Cut(after, "</arg_value>")
		if !ok {
			return nil, unfinished
		}
		a.add(key, value)
		rest = strings.TrimLeft(more, space)
	}
	return []textCall{{name: name, args: a.json()}}, complete
}

// arguments makes JSON of parameters that came as text.
type arguments struct {
	types map[string][]string
	buf   []byte
}

// asString is the attribute with which DeepSeek says whether a value is a string.
const asString = `" string="`

// add appends a parameter. Its tool's schema tells what the text is: a string, but for what is valid JSON of a type
// that the schema allows. One line break at each end belongs to the tags.
func (a *arguments) add(key, value string) {
	value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
	key, attribute, told := strings.Cut(key, asString)
	literal := !told && a.literal(key, strings.Trim(value, space)) || told && attribute == "false" &&
		json.Valid([]byte(value))
	if a.buf == nil {
		a.buf = []byte{'{'}
	}
	a.buf = wire.AppendKey(a.buf, key)
	if literal {
		a.buf = append(a.buf, strings.Trim(value, space)...)
		return
	}
	a.buf = rawjson.AppendString(a.buf, value)
}

// literal reports whether value is JSON of a type that the parameter may have. Nothing is known of a parameter without
// types: an object, a list, a number or a truth value is taken for what it looks like.
func (a *arguments) literal(key, value string) bool {
	if !json.Valid([]byte(value)) || value[0] == '"' {
		return false
	}
	types, known := a.types[key]
	if !known {
		return value != "null"
	}
	kind := kindOf(value)
	return slices.Contains(types, kind) || kind == "number" && slices.Contains(types, "integer")
}

// kindOf is the JSON schema's name for the type of a value.
func kindOf(value string) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func (a *arguments) json() string {
	if a.buf == nil {
		return "{}"
	}
	return string(append(a.buf, '}'))
}

// schema is as much of a JSON schema as is needed to tell a number from a string.
type schema struct {
	Type       json.RawMessage   `json:"type"`
	AnyOf      []schema          `json:"anyOf"`
	Properties map[string]schema `json:"properties"`
}

// typesOf are the types of a tool's parameters.
func typesOf(tools []model.Tool, name string) map[string][]string {
	for _, t := range tools {
		var s schema
		if t.Name != name || json.Unmarshal(t.Parameters, &s) != nil {
			continue
		}
		out := map[string][]string{}
		for key, p := range s.Properties {
			if types := p.types(); len(types) > 0 {
				out[key] = types
			}
		}
		return out
	}
	return nil
}

func (s *schema) types() (out []string) {
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		out = append(out, one)
	} else {
		_ = json.Unmarshal(s.Type, &out) // a list, or nothing that is known
	}
	for i := range s.AnyOf {
		out = append(out, s.AnyOf[i].types()...)
	}
	return out
}
