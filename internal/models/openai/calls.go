package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
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
// at all. Each call has an id of its own in the end: the server's, or one that is made here for a call without an id or
// with one that is taken.
type calls struct {
	open  []openCall
	last  int         // place in open of the call that had the last piece
	index map[int]int // the server's index -> place in open
	ids   map[string]bool
	piece callDelta // used again from piece to piece
	keep  bool      // the arguments, because calls may stand in the text, too
	seed  []byte    // the request: what made ids depend on, so that they differ from answer to answer
	sum   string    // of seed, once it is needed
}

type openCall struct {
	id, name string
	made     bool // the id is not the server's
	began    bool // its first piece is out
	halves   halves
	args     []byte // kept where it must be known whether they are complete, and where calls may stand in the text, too
}

// add turns a piece into a chunk.
func (c *calls) add(raw json.RawMessage) (message.ToolCallChunk, error) {
	d := &c.piece
	*d = callDelta{Index: d.Index}
	known := commonCall(raw, d)
	if !known {
		*d = callDelta{}
		if err := rawjson.Unmarshal(raw, d); err != nil {
			return message.ToolCallChunk{}, err
		}
	}
	out := c.chunk(d)
	if !known && (d.ID != "" || d.Function.Name != "") {
		out.Extra = unknownFields(raw)
	}
	return out, nil
}

// legacy turns a piece of a function_call, which is the only one of its answer, into a chunk.
func (c *calls) legacy(raw json.RawMessage) (message.ToolCallChunk, error) {
	d := callDelta{Index: new(int)}
	err := rawjson.Unmarshal(raw, &d.Function)
	return c.chunk(&d), err
}

// has reports whether a call like this one, with the same arguments, came in pieces.
func (c *calls) has(call textCall) bool {
	return slices.ContainsFunc(c.open, func(o openCall) bool {
		return o.name == call.name && sameJSON(o.args, []byte(call.args))
	})
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// whole adds a complete call that stood in the text.
func (c *calls) whole(call textCall) message.ToolCallChunk {
	d := callDelta{ID: call.id}
	d.Function.Name = call.name
	n := c.begin(&d)
	c.open[n].began, c.last = true, n
	return message.ToolCallChunk{Index: n, ID: c.open[n].id, Name: call.name, Args: call.args}
}

func (c *calls) chunk(d *callDelta) message.ToolCallChunk {
	n := c.place(d)
	call := &c.open[n]
	out := message.ToolCallChunk{Index: n}
	if !call.began {
		call.began, out.ID = true, call.id
	}
	if call.name == "" {
		call.name, out.Name = d.Function.Name, d.Function.Name
	}
	switch args := d.Function.Arguments; {
	case rawjson.IsNull(args):
	case args[0] != '"': // an object, or anything else, where a string belongs
		out.Args = string(args)
	default:
		out.Args = call.halves.join(args)
	}
	if d.Index == nil || c.keep {
		call.args = append(call.args, out.Args...)
	}
	c.last = n
	return out
}

// place finds the call that a piece belongs to, or opens one.
func (c *calls) place(d *callDelta) int {
	if d.Index != nil {
		return c.byIndex(*d.Index, d)
	}
	if d.ID != "" {
		for n := range c.open {
			if call := &c.open[n]; call.id == d.ID && (d.Function.Name == "" || !rawjson.Valid(call.args)) {
				return n
			}
		}
		return c.begin(d)
	}
	if len(c.open) == 0 || d.Function.Name != "" && rawjson.Valid(c.open[c.last].args) {
		return c.begin(d) // nameless calls, each complete: a name after a complete call begins the next one
	}
	return c.last
}

// byIndex trusts the index, but for servers that give each of several calls the index 0: there a new id together with
// a name begins a new call. A new id alone does not: some servers make one up for every piece.
func (c *calls) byIndex(i int, d *callDelta) int {
	n, ok := c.index[i]
	if ok && (d.ID == "" || d.ID == c.open[n].id || c.open[n].made || d.Function.Name == "") {
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
	call := openCall{id: d.ID}
	if call.made = d.ID == "" || c.ids[d.ID]; call.made {
		call.id = c.makeID()
	}
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	c.ids[call.id] = true
	c.open = append(c.open, call)
	return len(c.open) - 1
}

// makeID makes an id that fits every vendor's rule, which is that of the strictest. It is the same whenever the same
// answer to the same request is read.
func (c *calls) makeID() string {
	if c.sum == "" {
		sum := sha256.Sum256(c.seed)
		c.sum = string(sum[:])
	}
	for n := len(c.open); ; n++ {
		if id := mistrals.IDs.ID(c.sum, n); !c.ids[id] {
			return id
		}
	}
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
