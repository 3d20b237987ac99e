package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/message"
)

// keyItems is the member of additional_kwargs that tells how an answer's parts and calls were items: a list of [entry].
// A part's Text and Signature hold the texts and the encrypted content, a call its arguments; nothing is said twice.
const keyItems = "responses_items"

// The types of items that this package knows.
const (
	typeReasoning = "reasoning"
	typeMessage   = "message"
	typeCall      = "function_call"
)

// Bounds of what an answer's layout keeps.
const (
	maxItems    = 10_000
	maxSegments = 1_000
	maxID       = 512      // bytes of the name of one
	maxOther    = 64 << 10 // bytes of an item of another type
)

// betweenSegments stands between the texts of one reasoning item, in the part that holds them all.
const betweenSegments = "\n\n"

// entry is one item of an answer, without the texts. Items come in the order of the answer.
//
// The ids of messages and calls are left out, because they are not sent back: nothing is stored at the vendor, so an id
// helps nobody, and with an id the API demands the neighbours that the item was made with, which a shortened history
// may lack. A reasoning item has its id, a required field; it is sent beside the encrypted content alone, since an id
// without content is looked up and not found.
type entry struct {
	Type string `json:"type"`
	// ID of a reasoning item.
	ID string `json:"id,omitempty"`
	// Summary has the length in bytes of each text of a reasoning item's summary.
	Summary []int `json:"summary,omitempty"`
	// Content has the length of each text of a message or of an open reasoning (gpt-oss), which follows the summary.
	Content []int `json:"content,omitempty"`
	// Refusals are the places in Content that are refusals.
	Refusals []int `json:"refusals,omitempty"`
	// Encrypted says that the reasoning part's Signature is this item's encrypted content.
	Encrypted bool `json:"encrypted,omitempty"`
	// Phase of a message: "commentary" or "final_answer". OpenAI asks to send it back.
	Phase string `json:"phase,omitempty"`
	// CallID tells the call.
	CallID string `json:"call_id,omitempty"`
	// Item holds the further fields of a call, or all of an item of another type.
	Item json.RawMessage `json:"item,omitempty"`
}

// ordinary reports whether entries say nothing that the message does not: one message of one text, then calls.
func ordinary(entries []entry) bool {
	for i, e := range entries {
		switch {
		case e.Type == typeMessage && i == 0 && e.Phase == "" && len(e.Content) <= 1 && len(e.Refusals) == 0:
		case e.Type == typeCall && len(e.Item) == 0:
		default:
			return false
		}
	}
	return true
}

// item is what goes back for an entry.
type item struct {
	*entry

	summary, content []string
	encrypted        string
	args, name       string // of a call
}

// answered is an answer that is taken apart into the items that it came as.
type answered struct {
	msg  *message.Message
	text string // not yet taken
	// part and at are the place in the reasoning that is not yet taken.
	part, at int
	calls    []message.ToolCall
	taken    []bool
}

// itemsOf are the items of an answer. Reasoning that this provider did not make is left out, and so is reasoning that
// nothing of the answer follows, which the API rejects.
func itemsOf(msg *message.Message, ours bool) []item {
	items, ok := follow(msg, ours)
	if !ok {
		items = plain(msg, ours)
	}
	items = slices.DeleteFunc(items, func(i item) bool {
		return i.Type == typeReasoning && i.encrypted == "" && len(i.content) == 0
	})
	for len(items) > 0 && items[len(items)-1].Type == typeReasoning {
		items = items[:len(items)-1]
	}
	return items
}

// plain is the order of an answer whose layout nobody knows: reasoning, text, calls.
func plain(msg *message.Message, ours bool) []item {
	var items []item
	for _, p := range msg.Content {
		if p.Type == message.PartReasoning && ours && p.Signature != "" {
			r := item{entry: &entry{Type: typeReasoning}, encrypted: p.Signature}
			if p.Text != "" {
				r.summary = []string{p.Text}
			}
			items = append(items, r)
		}
	}
	a := answered{msg: msg, text: msg.Text()}
	a.listCalls()
	if a.text != "" {
		items = append(items, item{entry: &entry{Type: typeMessage}, content: []string{a.text}})
	}
	return a.restOfCalls(items)
}

// follow takes the answer apart by its layout. It reports false if there is none, or if the texts are no longer those
// that it was made for.
func follow(msg *message.Message, ours bool) ([]item, bool) {
	var entries []entry
	if raw := msg.Kwargs[keyItems]; !ours || len(raw) == 0 || json.Unmarshal(raw, &entries) != nil {
		return nil, false
	}
	a := answered{msg: msg, text: msg.Text(), part: -1}
	a.nextPart()
	a.listCalls()
	var items []item
	for i := range entries {
		it, has, ok := a.item(&entries[i])
		if !ok {
			return nil, false
		}
		if has {
			items = append(items, it)
		}
	}
	if a.text != "" || a.part < len(msg.Content) {
		return nil, false
	}
	return a.restOfCalls(items), true
}

// item takes one item from the answer; has is false if the answer has lost it.
func (a *answered) item(e *entry) (it item, has, ok bool) {
	it.entry = e
	switch e.Type {
	case typeReasoning:
		return it, true, a.reasoning(&it)
	case typeMessage:
		it.content, ok = cutTexts(&a.text, e.Content, "")
		return it, ok && len(it.content) > 0, ok
	case typeCall:
		return it, a.call(&it), true
	}
	return it, len(e.Item) > 0 && e.Item[0] == '{', true
}

// cutTexts takes texts of these lengths from the beginning of text.
func cutTexts(text *string, lengths []int, between string) (out []string, ok bool) {
	for i, n := range lengths {
		rest := *text
		if i > 0 {
			if rest, ok = strings.CutPrefix(rest, between); !ok {
				return nil, false
			}
		}
		if n < 0 || n > len(rest) {
			return nil, false
		}
		out, *text = append(out, rest[:n]), rest[n:]
	}
	return out, true
}

// reasoning takes the next texts of the reasoning parts, which the encrypted content closes.
func (a *answered) reasoning(it *item) bool {
	if lengths := slices.Concat(it.Summary, it.Content); !it.Encrypted &&
		(len(lengths) == 0 || len(lengths) == 1 && lengths[0] == 0) {
		return true // it has shown nothing
	}
	if a.part >= len(a.msg.Content) {
		return false
	}
	p := &a.msg.Content[a.part]
	rest := p.Text[a.at:]
	texts, ok := cutTexts(&rest, slices.Concat(it.Summary, it.Content), betweenSegments)
	if !ok {
		return false
	}
	it.summary, it.content = texts[:len(it.Summary)], texts[len(it.Summary):]
	a.at = len(p.Text) - len(rest)
	if it.Encrypted {
		it.encrypted = p.Signature
		if rest != "" || p.Signature == "" {
			return false
		}
	}
	if it.Encrypted || rest == "" && p.Signature == "" {
		a.nextPart()
	}
	return true
}

// nextPart goes to the next reasoning part.
func (a *answered) nextPart() {
	a.at = 0
	for a.part++; a.part < len(a.msg.Content); a.part++ {
		if a.msg.Content[a.part].Type == message.PartReasoning {
			return
		}
	}
}

func (a *answered) listCalls() {
	a.calls = a.msg.ToolCalls
	a.taken = make([]bool, len(a.calls))
}

// call takes the call of an item's id.
func (a *answered) call(it *item) bool {
	for i, c := range a.calls {
		if !a.taken[i] && c.ID == it.CallID {
			a.taken[i] = true
			it.name, it.args = c.Name, string(c.Args)
			return true
		}
	}
	return false
}

// restOfCalls appends the calls that no item has taken.
func (a *answered) restOfCalls(items []item) []item {
	for i, c := range a.calls {
		if !a.taken[i] {
			items = append(items, item{entry: &entry{Type: typeCall, CallID: c.ID}, name: c.Name, args: string(c.Args)})
		}
	}
	return items
}
