package openai

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
)

// callDelta is a piece of a tool call.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// calls numbers the tool calls of one answer. Servers name the call that a piece belongs to by index, by id, or not
// at all.
type calls struct {
	open  []openCall
	last  int         // place in open of the call that had the last piece
	index map[int]int // the server's index -> place in open
}

type openCall struct {
	id, name string
	halves   halves
	args     []byte // kept only where it must be known whether they are complete
}

// add turns a piece into a chunk.
func (c *calls) add(raw json.RawMessage) (message.ToolCallChunk, error) {
	var d callDelta
	known := commonCall(raw, &d)
	if !known {
		d = callDelta{}
		if err := unmarshal(raw, &d); err != nil {
			return message.ToolCallChunk{}, err
		}
	}
	n := c.place(&d)
	call := &c.open[n]
	out := message.ToolCallChunk{Index: n, ID: d.ID, Name: d.Function.Name}
	if call.id == "" {
		call.id = d.ID
	}
	if call.name == "" {
		call.name = d.Function.Name
	}
	if args := d.Function.Arguments; len(args) > 0 && args[0] == '{' { // an object where a string belongs
		out.Args = string(args)
	} else {
		out.Args = call.halves.join(args)
	}
	if d.Index == nil {
		call.args = append(call.args, out.Args...)
	}
	if !known && (d.ID != "" || d.Function.Name != "") {
		out.Extra = unknownFields(raw)
	}
	c.last = n
	return out, nil
}

// place finds the call that a piece belongs to, or opens one.
func (c *calls) place(d *callDelta) int {
	if d.Index != nil {
		return c.byIndex(*d.Index, d)
	}
	if d.ID != "" {
		for n := range c.open {
			if c.open[n].id == d.ID {
				return n
			}
		}
		return c.begin(d)
	}
	if len(c.open) == 0 || d.Function.Name != "" && json.Valid(c.open[c.last].args) {
		return c.begin(d) // nameless calls, each complete: a name after a complete call begins the next one
	}
	return c.last
}

// byIndex trusts the index, but for servers that give each of several calls the index 0: there a new id together with
// a name begins a new call. A new id alone does not: some servers make one up for every piece.
func (c *calls) byIndex(i int, d *callDelta) int {
	n, ok := c.index[i]
	if ok && (d.ID == "" || d.ID == c.open[n].id || c.open[n].id == "" || d.Function.Name == "") {
		return n
	}
	n = c.begin(d)
	if c.index == nil {
		c.index = map[int]int{}
	}
	c.index[i] = n
	return n
}

func (c *calls) begin(d *callDelta) int {
	c.open = append(c.open, openCall{id: d.ID, name: d.Function.Name})
	return len(c.open) - 1
}

// rest flushes halves of runes that no piece completed, so that the arguments show their damage.
func (c *calls) rest() []message.ToolCallChunk {
	var out []message.ToolCallChunk
	for n := range c.open {
		if s := c.open[n].halves.rest(); s != "" {
			out = append(out, message.ToolCallChunk{Index: n, Args: s})
		}
	}
	return out
}

// unknownFields are the fields that the protocol does not know, such as Gemini's extra_content. Those inside the
// function object are kept as an object under "function".
func unknownFields(raw json.RawMessage) message.Fields {
	var outer, inner message.Fields
	if json.Unmarshal(raw, &outer) != nil {
		return nil
	}
	_ = json.Unmarshal(outer[keyFunction], &inner)
	for _, k := range []string{"index", "id", "type", keyFunction} {
		delete(outer, k)
	}
	delete(inner, "name")
	delete(inner, "arguments")
	if len(inner) > 0 {
		outer[keyFunction], _ = json.Marshal(inner) //nolint:errchkjson // JSON that was just read
	}
	if len(outer) == 0 {
		return nil
	}
	return outer
}
