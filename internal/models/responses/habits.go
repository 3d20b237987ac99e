package responses

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// habits is what the models of one family do their own way. The zero value is that of no family: see [habitsOf].
type habits struct {
	// family is the beginning of the models' names, up to a hyphen or the end.
	family string
	// plain says that the models do not reason: they reject the fields of reasoning.
	plain bool
	// least is the effort that comes closest to no thinking; empty means that the effort cannot be chosen.
	least string
	// serial says that the models reject parallel_tool_calls.
	serial bool
}

// families are the models that differ from those of today, from OpenAI's pages of the models and of the field
// reasoning.effort. "none" came with gpt-5.1, "minimal" was gpt-5's alone. The first row that fits counts.
var families = []habits{
	{family: "gpt-3.5", plain: true},
	{family: "gpt-4", plain: true},
	{family: "gpt-4o", plain: true},
	{family: "gpt-4.1", plain: true},
	{family: "gpt-4.5", plain: true},
	{family: "chatgpt-4o", plain: true},
	{family: "gpt-5-chat", plain: true},
	{family: "gpt-5-pro"},
	{family: "gpt-5-codex", least: "low"},
	{family: "gpt-5", least: "minimal"},
	{family: "o1", least: "low", serial: true},
	{family: "o3", least: "low", serial: true},
	{family: "o4", least: "low", serial: true},
	{family: "gpt-oss", least: "low"},
}

// habitsOf finds the family of a model by its name; a vendor's prefix and that of a fine-tuned model do not count. A
// name that says nothing, such as that of a deployment, is taken for a model of today.
func habitsOf(name string) habits {
	name = strings.ToLower(strings.TrimPrefix(name, "ft:"))
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, h := range families {
		if rest, ok := strings.CutPrefix(name, h.family); ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
			return h
		}
	}
	return habits{least: "none"}
}

// effort is the word for an effort of [model.Settings]: only gpt-5 knows "minimal".
func (h habits) effort(word string) string {
	switch {
	case h.least == "":
		return ""
	case word == "minimal" && h.least != "minimal":
		return "low"
	}
	return word
}

// translate turns reasoning_effort, by which chat completions and DeerFlow's configuration call it, into the effort of
// the field reasoning.
func translate(in map[string]json.RawMessage) map[string]json.RawMessage {
	effort, ok := in["reasoning_effort"]
	if !ok {
		return in
	}
	out := maps.Clone(in)
	delete(out, "reasoning_effort")
	reasoning := rawjson.FromMembers(map[string]json.RawMessage{"effort": effort})
	return rawjson.Stack(map[string]json.RawMessage{"reasoning": reasoning}, out)
}
