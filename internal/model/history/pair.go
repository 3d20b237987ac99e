package history

import (
	"cmp"
	"strconv"

	"github.com/pudu-ai/pudu/message"
)

// entry is a message on its way to the provider. The results of its calls, if it has any, follow it.
type entry struct {
	msg   message.Message
	calls []call
}

// call is a call of an answer and the result found for it.
type call struct {
	id, name string // as in the history
	sent     message.ToolCall
	invalid  bool
	problem  string // why an invalid call was not run
	answered bool
	result   message.Message
}

// pairing brings calls and results together.
type pairing struct {
	rules   *Rules
	entries []entry
	last    []call                // of the newest answer that has any
	open    map[string][]*waiting // the calls that wait for a result, by id, those of newer answers behind
	ids     ids
}

// waiting are the calls of one answer that share an id.
type waiting struct {
	turn  int
	calls []*call
}

// pair returns clean messages, each answer followed by its results. Who may follow whom is seen to afterwards.
func (r *Rules) pair(msgs []message.Message) []message.Message {
	p := pairing{rules: r, entries: make([]entry, 0, len(msgs)), open: map[string][]*waiting{}, ids: newIDs(r)}
	for i := range msgs {
		switch m := &msgs[i]; m.Role {
		case message.Remove:
		case message.Tool:
			p.result(m)
		case message.AI:
			p.answer(m, i)
		default:
			p.speech(m)
		}
	}
	out := make([]message.Message, 0, len(msgs)+1)
	for i := range p.entries {
		out = p.entries[i].settle(r, out)
	}
	return out
}

// speech adds a message without calls, whoever's it is.
func (p *pairing) speech(m *message.Message) {
	out := *m
	switch m.Role {
	case message.AI:
	case message.System:
		if s := p.rules.system(); s == SystemNever || s == SystemFirst && p.begun() {
			out.Role = message.Human
		}
	default:
		out.Role = message.Human
	}
	content, _ := p.rules.parts(out.Role, m.Content)
	content, ok := p.rules.fill(out.Role, content)
	if !ok {
		return
	}
	out.Content = content
	p.add(entry{msg: out})
}

// begun reports whether anybody but the system has spoken. The system's messages stay the first ones, so the last
// tells.
func (p *pairing) begun() bool {
	n := len(p.entries)
	return n > 0 && p.entries[n-1].msg.Role != message.System
}

func (p *pairing) add(e entry) {
	if e.msg.Name != "" {
		e.msg.Name = p.rules.Speakers.named(e.msg.Name)
	}
	p.entries = append(p.entries, e)
}

// answer adds an answer; position is its place in the history, which stands in for a missing id.
func (p *pairing) answer(m *message.Message, position int) {
	n := len(m.ToolCalls) + len(m.InvalidToolCalls)
	if n == 0 {
		p.speech(m)
		return
	}
	e := entry{msg: *m, calls: make([]call, 0, n)}
	for _, c := range m.ToolCalls {
		if !isObject(c.Args) {
			c.Args = invalidArguments(string(c.Args))
		}
		e.calls = append(e.calls, call{id: c.ID, name: c.Name, sent: c})
	}
	for _, c := range m.InvalidToolCalls {
		sent := message.ToolCall{Args: invalidArguments(c.Args), Extra: c.Extra}
		e.calls = append(e.calls, call{id: c.ID, name: c.Name, sent: sent, invalid: true, problem: c.Error})
	}
	e.msg.Content, _ = p.rules.parts(message.AI, m.Content)
	e.msg.ToolCalls, e.msg.InvalidToolCalls = make([]message.ToolCall, n), nil
	source := m.ID
	source = cmp.Or(source, strconv.Itoa(position))
	p.ids.begin()
	for i := range e.calls {
		c := &e.calls[i]
		c.sent.ID, c.sent.Name = p.ids.give(c.id, source, i), p.rules.tool(c.name)
		e.msg.ToolCalls[i] = c.sent
		p.wait(c)
	}
	p.last = e.calls
	p.add(e)
}

// tool is the name of a tool as it is sent.
func (r *Rules) tool(name string) string {
	if blank(name) {
		name = unknownTool
	}
	return r.Tools.named(name)
}

// wait notes that a call of the answer that comes next waits for its result.
func (p *pairing) wait(c *call) {
	if blank(c.id) {
		return
	}
	turn, list := len(p.entries), p.open[c.id]
	if n := len(list); n > 0 && list[n-1].turn == turn {
		list[n-1].calls = append(list[n-1].calls, c)
		return
	}
	p.open[c.id] = append(list, &waiting{turn: turn, calls: []*call{c}})
}

// result gives a result to its call. One that has none is kept as a user's message, unless it says nothing.
func (p *pairing) result(m *message.Message) {
	find := p.byID
	if blank(m.ToolCallID) {
		find = p.byName
	}
	if c := find(m); c != nil {
		c.result, c.answered = *m, true
		return
	}
	if hasContent(m.Content) {
		orphan := orphaned(m)
		p.speech(&orphan)
	}
}

// byID finds the call of a result's id: ids may repeat from answer to answer, and even within one, so that it is the
// first of the newest answer that still waits.
func (p *pairing) byID(m *message.Message) *call {
	list := p.open[m.ToolCallID]
	for n := len(list); n > 0; n = len(list) {
		w := list[n-1]
		for len(w.calls) > 0 {
			c := w.calls[0]
			if w.calls = w.calls[1:]; !c.answered {
				return c
			}
		}
		list = list[:n-1]
		p.open[m.ToolCallID] = list
	}
	return nil
}

// byName finds the call of a result without an id: the first of the newest answer that waits, has no id either and, if
// the result names a tool, is of that tool; else the first of that tool.
func (p *pairing) byName(m *message.Message) *call {
	for i := range p.last {
		if c := &p.last[i]; !c.answered && blank(c.id) && (m.Name == "" || m.Name == c.name) {
			return c
		}
	}
	for i := range p.last {
		if c := &p.last[i]; !c.answered && m.Name != "" && m.Name == c.name {
			return c
		}
	}
	return nil
}

// settle appends the message, the results of its calls, and what the results show.
func (e *entry) settle(r *Rules, out []message.Message) []message.Message {
	out = append(out, e.msg)
	var shown []message.Part
	for i := range e.calls {
		c := &e.calls[i]
		if !c.answered {
			c.result = missing(c.invalid, c.problem)
		}
		res := c.result
		content, later := r.parts(message.Tool, res.Content)
		res.Content, _ = r.fill(message.Tool, content)
		res.ToolCallID, res.Name = c.sent.ID, c.sent.Name
		out = append(out, res)
		if len(later) > 0 {
			shown = append(append(shown, pictureOf(res.Name)), later...)
		}
	}
	if len(shown) > 0 {
		out = append(out, message.Message{Role: message.Human, Content: shown, List: true})
	}
	return out
}
