package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

func appendCall(b []byte, c *ToolCall) ([]byte, error) {
	o := rawjson.Begin(b)
	o.String("name", c.Name)
	switch {
	case len(c.Args) == 0:
		o.Raw("args", json.RawMessage(noArgs))
	case c.Args[0] != '{':
		return nil, errors.New("args: must be an object")
	default:
		o.Raw("args", c.Args)
	}
	o.StringOrNull("id", c.ID)
	o.String("type", "tool_call")
	o.Members(c.Extra)
	return o.End()
}

func appendInvalid(b []byte, c *InvalidToolCall) ([]byte, error) {
	o := rawjson.Begin(b)
	o.StringOrNull("name", c.Name)
	o.String("args", c.Args)
	o.StringOrNull("id", c.ID)
	o.StringOrNull("error", c.Error)
	o.String("type", "invalid_tool_call")
	o.Members(c.Extra)
	return o.End()
}

// takeCalls reads tool_calls and invalid_tool_calls. OpenAI-style calls may turn out to be invalid.
func (m *Message) takeCalls(r *reader) {
	for i, raw := range r.list("tool_calls") {
		call, invalid, err := decodeCall(raw)
		switch {
		case err != nil:
			r.fail("tool_calls", fmt.Errorf("[%d]: %w", i, err))
			return
		case invalid != nil:
			m.InvalidToolCalls = append(m.InvalidToolCalls, *invalid)
		default:
			m.ToolCalls = append(m.ToolCalls, call)
		}
	}
	for i, raw := range r.list("invalid_tool_calls") {
		c, err := decodeInvalid(raw)
		if err != nil {
			r.fail("invalid_tool_calls", fmt.Errorf("[%d]: %w", i, err))
			return
		}
		m.InvalidToolCalls = append(m.InvalidToolCalls, c)
	}
	if len(m.InvalidToolCalls) > maxParts {
		r.fail("invalid_tool_calls", errTooMany)
	}
}

func decodeCall(raw json.RawMessage) (ToolCall, *InvalidToolCall, error) {
	r, err := read(raw)
	if err != nil {
		return ToolCall{}, nil, err
	}
	if f := r.object("function"); f != nil {
		return decodeFunction(&r, f)
	}
	c := ToolCall{ID: r.string("id"), Name: r.must("name"), Args: json.RawMessage(noArgs)}
	if args := r.take("args"); args != nil {
		if args[0] != '{' {
			r.fail("args", wanted("an object", args))
		}
		c.Args = clone(args)
	}
	delete(r.members, "type")
	c.Extra = r.rest()
	return c, nil, r.err
}

// decodeFunction reads OpenAI's form of a call, whose arguments are JSON inside a string.
func decodeFunction(r, f *reader) (ToolCall, *InvalidToolCall, error) {
	id, name := r.string("id"), f.must("name")
	raw := f.take("arguments")
	text, isText := rawjson.String(raw)
	if !isText {
		text = string(raw) // some vendors send the object itself
	}
	r.fail("function", f.err)
	delete(r.members, "type")
	maps.Copy(r.members, f.members)
	extra := r.rest()
	args, problem := parseArgs(text)
	if problem != "" {
		return ToolCall{}, &InvalidToolCall{ID: id, Name: name, Args: text, Error: problem, Extra: extra}, r.err
	}
	return ToolCall{ID: id, Name: name, Args: args, Extra: extra}, nil, r.err
}

func decodeInvalid(raw json.RawMessage) (InvalidToolCall, error) {
	r, err := read(raw)
	if err != nil {
		return InvalidToolCall{}, err
	}
	c := InvalidToolCall{ID: r.string("id"), Name: r.string("name"), Args: r.string("args"), Error: r.string("error")}
	delete(r.members, "type")
	c.Extra = r.rest()
	return c, r.err
}

// noArgs is what a call without arguments has.
const noArgs = "{}"

// parseArgs returns the arguments that a model wrote, without the space around them, or what is wrong with them. Empty
// text means no arguments.
func parseArgs(text string) (args json.RawMessage, problem string) {
	text = strings.ToValidUTF8(strings.Trim(text, " \t\r\n"), "\uFFFD")
	if text == "" {
		return json.RawMessage(noArgs), ""
	}
	args = json.RawMessage(text)
	if rawjson.Valid(args) {
		if args[0] != '{' {
			return nil, "the arguments are " + rawjson.Kind(args) + ", not a JSON object"
		}
		return args, ""
	}
	err := json.NewDecoder(strings.NewReader(text)).Decode(&args)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Sprintf("the arguments are cut off after %d bytes", len(text))
	case err == nil:
		return nil, "the arguments are not JSON: more text follows the object"
	}
	return nil, "the arguments are not JSON: " + err.Error()
}
