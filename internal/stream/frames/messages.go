package frames

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// messages shows the messages that a change has added and that were not shown yet: those of the model and of tools. The
// older form has all of them.
func (p *Projector) messages(s *scope, c *change) error {
	if !p.wants(inTuples | inMessages) {
		return nil
	}
	for _, m := range c.fresh {
		if s.shown()[m.ID] {
			continue
		}
		if p.wants(inMessages) {
			line, err := m.line()
			if err != nil {
				return err
			}
			p.list(s, "messages/complete", line)
		}
		if err := p.tuple(s, c.node, m); err != nil {
			return err
		}
	}
	return nil
}

// tuple shows a message as a whole, or what is missing of one that was streamed.
func (p *Projector) tuple(s *scope, node string, m arrival) error {
	if !p.wants(inTuples) || node == agent.NodeInput || m.Role != message.AI && m.Role != message.Tool &&
		node != agent.NodeSteer {
		return nil
	}
	model := node == agent.NodeModel && m.Role == message.AI
	meta := p.metadataOf(s, node, m.ToolCallID, model)
	if st := s.stream; st != nil && st.id == m.ID && m.Role == message.AI {
		rest, ok := st.rest(m.Message)
		if ok {
			return p.finish(s, *m.Message, rest, meta)
		}
		p.remove(s, m.ID, meta)
	}
	line, err := m.line()
	p.pair(s, line, meta)
	return err
}

// pair adds the frame of a message with its metadata.
func (p *Projector) pair(s *scope, line, meta []byte) {
	b := append(make([]byte, 0, len(line)+len(meta)+3), '[')
	b = append(append(b, line...), ',')
	p.emit(s, "messages", append(append(b, meta...), ']'))
}

// remove withdraws what was shown of a message.
func (p *Projector) remove(s *scope, id string, meta []byte) {
	p.pair(s, removal(id), meta)
}

func removal(id string) []byte {
	b := append([]byte(nil),
		`{"content":"","additional_kwargs":{},"response_metadata":{},"type":"remove","name":null,"id":`...)
	return append(rawjson.AppendString(b, id), '}')
}

// finish shows the last piece of a streamed message, with all that belongs to the message as a whole. Clients add up
// the members of the pieces, so its usage and its finish reason stand here alone.
func (p *Projector) finish(s *scope, m message.Message, rest event.Chunk, meta []byte) error {
	calls := rest.ToolCalls
	m.Content, m.List = nil, false
	if rest.Reasoning != "" {
		m.Content = append(m.Content, message.Part{Type: message.PartReasoning, Text: rest.Reasoning})
	}
	if rest.Text != "" {
		m.Content = append(m.Content, message.Text(rest.Text))
	}
	m.ToolCalls, m.InvalidToolCalls = nil, nil
	raw, err := lineOf(m)
	if err != nil {
		return err
	}
	parts, _ := rawjson.Members(raw)
	parts["type"] = json.RawMessage(`"AIMessageChunk"`)
	parts["tool_call_chunks"] = append(appendCallChunks([]byte{'['}, calls), ']')
	parts["chunk_position"] = json.RawMessage(`"last"`)
	p.pair(s, rawjson.FromMembers(parts), meta)
	return nil
}

// list adds a frame of the older form: a list of one message.
func (p *Projector) list(s *scope, name string, line []byte) {
	b := append(make([]byte, 0, len(line)+2), '[')
	p.emit(s, name, append(append(b, line...), ']'))
}

// toolEnd shows the result of a tool as soon as it is known. The result of the last tool of a step comes with the
// state.
func (p *Projector) toolEnd(s *scope, d *event.ToolEnd) error {
	if len(d.Writes) == 0 || p.want&(inTuples|inMessages) == 0 {
		return nil
	}
	u := update{stored: d.Writes}
	if p.quiet {
		s.early = append(s.early, u)
		return nil
	}
	if err := s.settle(); err != nil {
		return err
	}
	s.shown()
	c := &change{node: agent.NodeTools, fresh: brought(s.schema, u, s.messageIDs())}
	err := p.messages(s, c)
	for _, m := range c.fresh {
		s.show(m.ID)
	}
	return err
}
