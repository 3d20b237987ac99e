package openai

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/pudu-ai/pudu/model"
)

// format is a way in which models write calls into their text.
type format struct {
	// open and close enclose the calls; without a close they go to the end of the answer.
	open, close string
	// token says that open is a single token of its model, which no prose holds: it may stand anywhere.
	token bool
	// begins reports whether what follows open may still become a call. Once it says no, more text changes nothing, and
	// it says so before close can have come.
	begins func(inner []byte) bool
	// parse reads what stands between open and close.
	parse func(inner string, tools []model.Tool) ([]textCall, verdict)
	// rescue reads the name in a broken call, and takes what follows for its arguments; nil rescues nothing.
	rescue func(inner string) (textCall, bool)
}

// verdict is what a text is as a call.
type verdict int

const (
	complete verdict = iota
	unfinished
	broken
)

// read parses, and rescues what is broken, at the end of the answer also what is unfinished. Before close, unfinished
// is what close may be a part of, as the text of a string.
func (f *format) read(inner string, tools []model.Tool, last bool) ([]textCall, verdict) {
	calls, v := f.parse(inner, tools)
	if v == unfinished && !last {
		_, v = f.parse(inner+f.close, tools)
	}
	if v == complete && len(calls) == 0 {
		return nil, broken
	}
	if v == complete || v == unfinished && !last || f.rescue == nil {
		return calls, v
	}
	if c, ok := f.rescue(inner); ok {
		return []textCall{c}, complete
	}
	return nil, v
}

// formats are the ways in use, each with the models that were taught it.
var formats = []format{
	// Hermes, Qwen: {"name":…,"arguments":{…}}; Qwen-Coder: <function=…>; GLM: name and <arg_key>.
	{open: "<tool_call>", close: "</tool_call>", begins: taggedBegins, parse: parseTagged, rescue: rescueTagged},
	// Qwen-Coder and MindIE without the outer tag.
	{open: "<function=", close: "</function>", begins: nameBegins, parse: parseBareFunction,
		rescue: rescueBareFunction},
	// MiniMax.
	{open: "<minimax:tool_call>", close: "</minimax:tool_call>", begins: startsWith("<invoke"), parse: invokes.parse},
	// DeepSeek V3.2.
	{open: "<｜DSML｜function_calls>", close: "</｜DSML｜function_calls>", token: true, begins: startsWith("<｜DSML｜invoke"),
		parse: dsml.parse},
	// DeepSeek R1, V3 and V3.1.
	{open: "<｜tool▁calls▁begin｜>", close: "<｜tool▁calls▁end｜>", token: true, begins: startsWith(deepseekCalls.open),
		parse: deepseekCalls.parse, rescue: deepseekCalls.rescue},
	// Kimi K2.
	{open: "<|tool_calls_section_begin|>", close: "<|tool_calls_section_end|>", token: true,
		begins: startsWith(kimiCalls.open), parse: kimiCalls.parse, rescue: kimiCalls.rescue},
	// Mistral: a list, or since its eleventh tokenizer name[ARGS]{…}.
	{open: "[TOOL_CALLS]", token: true, begins: mistralBegins, parse: parseMistral},
	// Llama 3: one object or several with semicolons between them. What is no object is a program, and stays text.
	{open: "<|python_tag|>", token: true, begins: startsWith("{"), parse: parseLlama, rescue: rescueObject},
}

// findFormat returns the format whose marker text begins with; more says that it may be one when more text comes.
func findFormat(text []byte, lineStart bool) (f *format, more bool) {
	for i := range formats {
		switch f := &formats[i]; {
		case !f.token && !lineStart:
		case bytes.HasPrefix(text, []byte(f.open)):
			return f, false
		case len(text) < len(f.open) && f.open[:len(text)] == string(text):
			more = true
		}
	}
	return nil, more
}

// startsWith wants want after space.
func startsWith(want string) func([]byte) bool {
	return func(inner []byte) bool { return agrees(bytes.TrimLeft(inner, space), want) }
}

// agrees reports whether the shorter of two texts begins the longer one.
func agrees(text []byte, want string) bool {
	n := min(len(text), len(want))
	return string(text[:n]) == want[:n]
}

// taggedBegins wants an object, a function or a name that GLM's arguments or the end follow.
func taggedBegins(inner []byte) bool {
	s := bytes.TrimLeft(inner, space)
	switch {
	case len(s) == 0:
		return true
	case s[0] == '{':
		return agrees(bytes.TrimLeft(s[1:], space), `"`)
	case s[0] == '<':
		return agrees(s, functionForm.open)
	}
	n := nameLen(s)
	after := bytes.TrimLeft(s[n:], space)
	return n > 0 && (agrees(after, "<arg_key>") || agrees(after, "</tool_call>"))
}

// nameBegins wants a name and the end of its tag.
func nameBegins(inner []byte) bool {
	n := nameLen(inner)
	return n == len(inner) || n > 0 && inner[n] == '>'
}

// mistralBegins wants a list of objects, or a name and its arguments.
func mistralBegins(inner []byte) bool {
	s := bytes.TrimLeft(inner, space)
	if len(s) == 0 {
		return true
	}
	if s[0] == '[' {
		return agrees(bytes.TrimLeft(s[1:], space), "{")
	}
	n := nameLen(s)
	after := bytes.TrimLeft(s[n:], space)
	return n > 0 && (agrees(after, "[ARGS]") || agrees(after, "[CALL_ID]") || agrees(after, "{"))
}

// nameLen is how many bytes of s are a tool's name; a longer one than any vendor allows counts as none.
func nameLen(s []byte) int {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] == '-' || s[n] == '.' || s[n] == ':' || s[n] >= '0' && s[n] <= '9' ||
		s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	if n > 256 {
		return 0
	}
	return n
}

// parseTagged reads what stands in <tool_call>: its first character tells the way.
func parseTagged(inner string, tools []model.Tool) ([]textCall, verdict) {
	switch s := strings.TrimLeft(inner, space); {
	case s == "":
		return nil, broken
	case s[0] == '{':
		return parseObjects(s, "")
	case s[0] == '<':
		return functionForm.parse(s, tools)
	default:
		return parseGLM(s, tools)
	}
}

func rescueTagged(inner string) (textCall, bool) {
	switch s := strings.TrimLeft(inner, space); {
	case strings.HasPrefix(s, "{"):
		return rescueObject(s)
	case strings.HasPrefix(s, "<"):
		return rescueFunction(s)
	default:
		return rescueBy(brokenGLM, s)
	}
}

func parseBareFunction(inner string, tools []model.Tool) ([]textCall, verdict) {
	return functionForm.parse(functionForm.open+inner+functionForm.close, tools)
}

func rescueBareFunction(inner string) (textCall, bool) {
	return rescueFunction(functionForm.open + inner)
}

// What a broken call must still say: its name, and where its arguments begin.
var (
	brokenObject = regexp.MustCompile(`(?s)^\s*\{\s*"name"\s*:\s*"([^"\\]+)"\s*,\s*"(?:arguments|` +
		`parameters)"\s*:\s*(.+)$`)
	brokenFunction = regexp.MustCompile(`(?s)^\s*<function=([^<>\s]+)>(.+)$`)
	brokenGLM      = regexp.MustCompile(`(?s)^\s*([\w.:-]+)\s*(<arg_key>.+)$`)
)

// rescueObject also repairs what is sound but for the number of braces behind the arguments.
func rescueObject(inner string) (textCall, bool) {
	c, ok := rescueBy(brokenObject, inner)
	var args json.RawMessage
	d := json.NewDecoder(strings.NewReader(c.args))
	if ok && d.Decode(&args) == nil && strings.Trim(c.args[d.InputOffset():], space+"}") == "" {
		c.args = string(args)
	}
	return c, ok
}

func rescueFunction(inner string) (textCall, bool) { return rescueBy(brokenFunction, inner) }

func rescueBy(pattern *regexp.Regexp, inner string) (textCall, bool) {
	m := pattern.FindStringSubmatch(inner)
	if m == nil {
		return textCall{}, false
	}
	return textCall{name: m[1], args: m[2]}, true
}
