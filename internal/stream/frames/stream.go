package frames

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// stream is a message that a model is writing: what of it was shown, and the parts that its frames have in common.
type stream struct {
	id        string
	text      []byte
	reasoning []byte
	calls     []*streamedCall  // by first appearance
	middle    []byte           // of a tuple, between additional_kwargs and tool_call_chunks
	end       []byte           // behind tool_call_chunks
	whole     *message.Builder // for the older form
}

// streamedCall is a tool call as far as it was shown.
type streamedCall struct {
	index    int
	id, name string
	args     []byte
}

// chunk projects a live piece of a message.
func (p *Projector) chunk(s *scope, c *event.Chunk) error {
	if p.want&(inTuples|inMessages|inTasks|inDebug) == 0 {
		return nil
	}
	if s.stream == nil || s.stream.id != c.MessageID {
		s.stream = &stream{id: c.MessageID}
		if p.want&inMessages != 0 {
			s.stream.whole = &message.Builder{}
		}
		if err := p.beginTask(s, agent.NodeModel, "", p.clock); err != nil {
			return err
		}
		if err := p.describe(s, c.MessageID); err != nil {
			return err
		}
	}
	if p.want&(inTuples|inMessages) == 0 {
		return nil
	}
	return p.piece(s, c)
}

// piece shows a chunk in the modes that have messages.
func (p *Projector) piece(s *scope, c *event.Chunk) error {
	st := s.stream
	shown := st.add(c)
	if st.whole != nil {
		st.whole.Add(builderChunk(c))
	}
	if p.wants(inTuples) {
		if st.end == nil {
			if err := p.prepare(s); err != nil {
				return err
			}
		}
		p.emit(s, "messages", st.tuple(c, shown))
	}
	if p.wants(inMessages) {
		m := st.whole.Message()
		m.ID = st.id
		line, err := lineOf(m)
		if err != nil {
			return err
		}
		p.list(s, "messages/partial", line)
	}
	return nil
}

// prepare makes the parts that the frames of a message have in common.
func (p *Projector) prepare(s *scope) error {
	if err := s.origin(); err != nil {
		return err
	}
	b := append(make([]byte, 0, 256), `},"response_metadata":{},"type":"AIMessageChunk","name":null,"id":`...)
	b = rawjson.AppendString(b, s.stream.id)
	s.stream.middle = append(b,
		`,"tool_calls":[],"invalid_tool_calls":[],"usage_metadata":null,"tool_call_chunks":[`...)
	s.stream.end = append([]byte(`],"chunk_position":null},`), p.metadataOf(s, agent.NodeModel, "", true)...)
	s.stream.end = append(s.stream.end, ']')
	return nil
}

// tuple is the chunk with its metadata.
func (st *stream) tuple(c *event.Chunk, calls []event.ToolCallChunk) []byte {
	size := 64 + len(c.Text) + len(c.Text)/8 + len(c.Reasoning) + len(c.Reasoning)/8 + len(st.middle) + len(st.end)
	for _, tc := range calls {
		size += 96 + len(tc.ID) + len(tc.Name) + 2*len(tc.Args)
	}
	b := append(make([]byte, 0, size), `[{"content":`...)
	b = append(rawjson.AppendString(b, c.Text), `,"additional_kwargs":{`...)
	if c.Reasoning != "" {
		b = rawjson.AppendString(append(b, `"reasoning_content":`...), c.Reasoning)
	}
	b = append(b, st.middle...)
	return append(appendCallChunks(b, calls), st.end...)
}

func appendCallChunks(b []byte, calls []event.ToolCallChunk) []byte {
	for i, tc := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCallChunk(b, tc)
	}
	return b
}

func appendCallChunk(b []byte, tc event.ToolCallChunk) []byte {
	o := rawjson.Begin(b)
	o.StringOrNull("name", tc.Name)
	o.String("args", tc.Args)
	o.StringOrNull("id", tc.ID)
	o.Int("index", int64(tc.Index))
	o.String("type", "tool_call_chunk")
	return append(o.Buf, '}')
}

// add takes the chunk to what was shown. It returns the pieces of tool calls to show: a client joins the names and ids
// of all pieces of a call, so only the first piece that has them shows them.
func (st *stream) add(c *event.Chunk) []event.ToolCallChunk {
	st.text = append(st.text, c.Text...)
	st.reasoning = append(st.reasoning, c.Reasoning...)
	if len(c.ToolCalls) == 0 {
		return nil
	}
	out := slices.Clone(c.ToolCalls)
	for i, tc := range out {
		call := st.call(tc.Index)
		if call.id != "" {
			out[i].ID = ""
		} else {
			call.id = tc.ID
		}
		if call.name != "" {
			out[i].Name = ""
		} else {
			call.name = tc.Name
		}
		call.args = append(call.args, tc.Args...)
	}
	return out
}

func (st *stream) call(index int) *streamedCall {
	for _, c := range st.calls {
		if c.index == index {
			return c
		}
	}
	c := &streamedCall{index: index}
	st.calls = append(st.calls, c)
	return c
}

// rest is what m has beyond what was shown of it. ok is false if it is no continuation of that: a client that joins the
// pieces would hold another message.
func (st *stream) rest(m *message.Message) (c event.Chunk, ok bool) {
	text, okText := strings.CutPrefix(valid(m.Text()), valid(string(st.text)))
	reasoning, okReasoning := strings.CutPrefix(valid(m.Reasoning()), valid(string(st.reasoning)))
	calls, okCalls := st.restOfCalls(m)
	return event.Chunk{Text: text, Reasoning: reasoning, ToolCalls: calls}, okText && okReasoning && okCalls
}

// restOfCalls finds each call that was shown among those of m. A call that was shown without an id may have one now.
func (st *stream) restOfCalls(m *message.Message) (rest []event.ToolCallChunk, ok bool) {
	final := finalCalls(m)
	if len(final) != len(st.calls) {
		return nil, false
	}
	for _, c := range st.calls {
		i := slices.IndexFunc(final, c.became)
		if i < 0 {
			return nil, false
		}
		if c.id == "" && final[i].id != "" {
			rest = append(rest, event.ToolCallChunk{Index: c.index, ID: final[i].id})
		}
		final = slices.Delete(final, i, i+1)
	}
	return rest, true
}

// finalCalls are the calls of a finished message.
func finalCalls(m *message.Message) []streamedCall {
	var out []streamedCall
	for _, c := range m.ToolCalls {
		out = append(out, streamedCall{id: c.ID, name: c.Name, args: c.Args})
	}
	for _, c := range m.InvalidToolCalls {
		out = append(out, streamedCall{id: c.ID, name: c.Name, args: []byte(c.Args)})
	}
	return out
}

func (c *streamedCall) became(f streamedCall) bool {
	args, want := trim(c.args), trim(f.args)
	if args == "" && want == "{}" {
		args = want
	}
	return (c.id == "" || valid(c.id) == valid(f.id)) && valid(c.name) == valid(f.name) && args == want
}

func trim(args []byte) string { return valid(string(bytes.Trim(args, " \t\r\n"))) }

// valid is the text as it comes back from JSON: a message that was made here is compared as one that was read.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func builderChunk(c *event.Chunk) message.Chunk {
	out := message.Chunk{Text: c.Text, Reasoning: c.Reasoning}
	for _, tc := range c.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, message.ToolCallChunk{Index: tc.Index, ID: tc.ID, Name: tc.Name,
			Args: tc.Args})
	}
	return out
}

// describe tells clients of the older form what there is to know of a message, before its first piece.
func (p *Projector) describe(s *scope, id string) error {
	if !p.wants(inMessages) {
		return nil
	}
	if err := s.origin(); err != nil {
		return err
	}
	o := rawjson.Begin(nil)
	o.Key(id)
	o.Buf = append(o.Buf, `{"metadata":`...)
	o.Buf = append(o.Buf, p.metadataOf(s, agent.NodeModel, "", true)...)
	p.emit(s, "messages/metadata", append(o.Buf, "}}"...))
	return nil
}
