package responses

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// items are those of an answer that is being streamed. Each text is shown once, whether it comes in deltas, with the
// end of its item, or only with the end of the answer.
type items struct {
	open  map[int]*openItem // by the place in the answer
	ids   map[string]int    // the places of items by the server's id
	calls int
	// latest is the last item that has shown text or reasoning. tangled says that an earlier one has shown some after
	// it: then the message's parts cannot be taken apart into items again, and no layout is kept.
	latest  int
	tangled bool
}

// openItem is an item of which more may come.
type openItem struct {
	entry

	call int // number of a call
	args int // bytes of arguments that were shown
}

// place is a text of an item.
type place struct{ item, segment int }

// at returns the item of that place, which begins if it has not yet; nil if it is of another type, or one too many.
func (s *items) at(index int, typ string) *openItem {
	it := s.open[index]
	if it == nil {
		if s.open == nil {
			s.open = map[int]*openItem{}
		}
		if len(s.open) >= maxItems {
			s.tangled = true
			return nil
		}
		it = &openItem{entry: entry{Type: typ}, call: s.calls}
		s.open[index] = it
		if typ == typeCall {
			s.calls++
		}
	}
	if it.Type != typ {
		return nil
	}
	return it
}

// begun takes over an item's names.
func (s *items) begun(index int, o *output, c *message.Chunk) {
	if o.Type != typeReasoning && o.Type != typeMessage && o.Type != typeCall {
		return
	}
	it := s.at(index, o.Type)
	if it == nil {
		return
	}
	s.name(index, o.ID)
	switch o.Type {
	case typeReasoning:
		it.ID = cmp.Or(o.ID, it.ID)
	case typeMessage:
		it.Phase = cmp.Or(o.Phase, it.Phase)
	case typeCall:
		if it.CallID == "" {
			it.CallID = o.CallID
			c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: it.call, ID: o.CallID, Name: o.Name})
		}
	}
}

// name notes which item has that id; the first one keeps it.
func (s *items) name(index int, id string) {
	if _, taken := s.ids[id]; taken || id == "" || len(id) > maxID || len(s.ids) >= maxItems {
		return
	}
	if s.ids == nil {
		s.ids = map[string]int{}
	}
	s.ids[id] = index
}

// placed is where an item of the whole answer stood in the stream. The whole answer may leave out items, so one that is
// not at its place there is looked for by its id.
func (s *items) placed(index int, raw json.RawMessage) int {
	var o struct{ Type, ID string }
	_ = rawjson.Unmarshal(raw, &o)
	if it := s.open[index]; it != nil && it.Type == o.Type {
		return index
	}
	if at, ok := s.ids[o.ID]; ok && s.open[at].Type == o.Type {
		return at
	}
	return index
}

// done takes over what of a complete item was not shown yet.
func (s *items) done(index int, o *output, raw json.RawMessage, c *message.Chunk) {
	switch o.Type {
	case "":
	case typeMessage:
		for i, t := range o.Content {
			refused := t.Type == "refusal"
			s.saidAll(place{index, i}, cmp.Or(t.Text, t.Refusal), refused, c)
		}
	case typeReasoning:
		s.reasoned(index, o, c)
	case typeCall:
		s.arguedAll(index, o.Arguments, c)
		if it := s.at(index, typeCall); it != nil {
			it.Item = further(raw)
		}
	default:
		s.other(index, o.Type, raw)
	}
}

// reasoned completes a reasoning item; its encrypted content is good only now.
func (s *items) reasoned(index int, o *output, c *message.Chunk) {
	for i, t := range o.Summary {
		it := s.at(index, typeReasoning)
		s.summarized(place{index, i}, behind(it, it.summary(), i, t.Text), c)
	}
	for i, t := range o.Content {
		it := s.at(index, typeReasoning)
		s.thought(place{index, i}, behind(it, it.content(), i, t.Text), c)
	}
	if it := s.at(index, typeReasoning); it != nil && o.Encrypted != "" && !it.Encrypted {
		s.show(index)
		it.Encrypted, c.Signature = true, o.Encrypted
	}
}

func (it *openItem) summary() []int {
	if it == nil {
		return nil
	}
	return it.Summary
}

func (it *openItem) content() []int {
	if it == nil {
		return nil
	}
	return it.Content
}

// behind is what of a whole text was not shown yet.
func behind(it *openItem, shown []int, segment int, whole string) string {
	if it == nil || segment >= len(shown) {
		return whole
	}
	return whole[min(shown[segment], len(whole)):]
}

// said adds text to a message.
func (s *items) said(at place, text string, refused bool, c *message.Chunk) {
	it := s.at(at.item, typeMessage)
	if it == nil {
		return
	}
	if n := s.grow(&it.Content, at.segment, text); n > 0 && refused {
		it.Refusals = append(it.Refusals, at.segment)
	}
	if text != "" {
		s.show(at.item)
		c.Text += text
	}
}

// saidAll adds what of a whole text was not said yet.
func (s *items) saidAll(at place, whole string, refused bool, c *message.Chunk) {
	it := s.at(at.item, typeMessage)
	s.said(at, behind(it, it.content(), at.segment, whole), refused, c)
}

// summarized adds text to the summary of a reasoning item.
func (s *items) summarized(at place, text string, c *message.Chunk) {
	it := s.at(at.item, typeReasoning)
	if it == nil {
		return
	}
	if len(it.Content) > 0 {
		s.tangled = s.tangled || text != ""
	}
	s.reason(it, at.item, s.grow(&it.Summary, at.segment, text), text, c)
}

// thought adds text to the open reasoning of a reasoning item.
func (s *items) thought(at place, text string, c *message.Chunk) {
	it := s.at(at.item, typeReasoning)
	if it == nil {
		return
	}
	s.reason(it, at.item, s.grow(&it.Content, at.segment, text), text, c)
}

// reason shows text, behind a blank line for each of the new segments but the item's first.
func (s *items) reason(it *openItem, index, segments int, text string, c *message.Chunk) {
	for n := len(it.Summary) + len(it.Content) - segments; segments > 0; n, segments = n+1, segments-1 {
		if n > 0 {
			c.Reasoning += betweenSegments
		}
	}
	c.Reasoning += text
	if c.Reasoning != "" {
		s.show(index)
		s.tangled = s.tangled || it.Encrypted // the part is closed
	}
}

// grow adds text to the length of a segment and returns how many segments are new.
func (s *items) grow(lengths *[]int, segment int, text string) int {
	before := len(*lengths)
	if segment < 0 || segment >= maxSegments {
		s.tangled = true
		return 0
	}
	for len(*lengths) <= segment {
		*lengths = append(*lengths, 0)
	}
	(*lengths)[segment] += len(text)
	if segment < before-1 && text != "" {
		s.tangled = true
	}
	return len(*lengths) - before
}

// show notes that an item shows text or reasoning.
func (s *items) show(index int) {
	s.tangled = s.tangled || index < s.latest
	s.latest = max(s.latest, index)
}

// argued adds arguments to a call.
func (s *items) argued(index int, args string, c *message.Chunk) {
	it := s.at(index, typeCall)
	if it == nil || args == "" {
		return
	}
	it.args += len(args)
	c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: it.call, Args: args})
}

// arguedAll adds what of the whole arguments was not shown yet.
func (s *items) arguedAll(index int, whole string, c *message.Chunk) {
	if it := s.at(index, typeCall); it != nil {
		s.argued(index, whole[min(it.args, len(whole)):], c)
	}
}

// further are the fields of a call that have no place of their own, such as its namespace; nil if there are none.
func further(raw json.RawMessage) json.RawMessage {
	f, _ := rawjson.Members(raw)
	maps.DeleteFunc(f, func(k string, v json.RawMessage) bool {
		return rawjson.IsNull(v) || slices.Contains(callFields, k)
	})
	if len(f) == 0 || len(raw) > maxOther {
		return nil
	}
	return rawjson.FromMembers(f)
}

// other keeps an item of another type, such as a search that OpenAI ran, to be sent back as it came.
func (s *items) other(index int, typ string, raw json.RawMessage) {
	if len(raw) > maxOther {
		return
	}
	if it := s.at(index, typ); it != nil {
		it.Item = raw
	}
}

// layout is what the message keeps of the items; nil if it needs nothing.
func (s *items) layout() json.RawMessage {
	var entries []entry
	for _, index := range slices.Sorted(maps.Keys(s.open)) {
		entries = append(entries, s.open[index].entry)
	}
	if s.tangled || ordinary(entries) {
		return nil
	}
	raw, err := json.Marshal(entries)
	if err != nil {
		return nil // not reached: what is raw came from JSON
	}
	return raw
}
