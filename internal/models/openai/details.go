package openai

import (
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// keyDetails is the field of OpenRouter's signed or encrypted reasoning: on the wire, and in additional_kwargs.
const keyDetails = "reasoning_details"

// maxDetails bounds the entries that are kept of one answer.
const maxDetails = 1000

// details folds streamed reasoning_details into the entries that must be sent back: pieces of one text become one
// entry, a signature joins its text, and everything else is kept as it came.
type details struct {
	entries []message.Fields
	added   int // bytes since taken
}

// taken is how many bytes were added since the last time.
func (d *details) taken() int {
	n := d.added
	d.added = 0
	return n
}

func (d *details) add(raws []json.RawMessage) {
	for _, raw := range raws {
		d.added += len(raw)
		var f message.Fields
		if json.Unmarshal(raw, &f) != nil || f == nil {
			continue
		}
		if n := len(d.entries); n > 0 && continues(d.entries[n-1], f) {
			join(d.entries[n-1], f)
		} else if n < maxDetails {
			d.entries = append(d.entries, f)
		}
	}
}

// continues reports whether next is a further piece of the same text.
func continues(last, next message.Fields) bool {
	_, signed := last["signature"]
	return string(next["type"]) == string(last["type"]) && string(next["index"]) == string(last["index"]) &&
		slices.Contains([]string{`"reasoning.text"`, `"reasoning.summary"`}, string(next["type"])) &&
		(!signed || string(last["signature"]) == "null")
}

// join appends the text of next to last, in the JSON strings themselves, and takes over what else is new.
func join(last, next message.Fields) {
	for key, value := range next {
		old := last[key]
		switch {
		case string(value) == "null":
		case (key == "text" || key == "summary") && isString(old) && isString(value):
			last[key] = append(old[:len(old)-1], value[1:]...)
		default:
			last[key] = value
		}
	}
}

func isString(raw json.RawMessage) bool { return len(raw) >= 2 && raw[0] == '"' }

// encode is the list as JSON; empty if there was none.
func (d *details) encode() json.RawMessage {
	if len(d.entries) == 0 {
		return nil
	}
	b := []byte{'['}
	for i, f := range d.entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, rawjson.FromMembers(f)...)
	}
	return append(b, ']')
}
