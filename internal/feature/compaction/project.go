package compaction

import (
	"strconv"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
)

// BlockName is the name of the durable block's message.
const BlockName = "durable_context"

// Project returns what is sent of req. all is the conversation of the state; req is what wrappers made of all of it, or
// an earlier projection of it: messages may have been changed, left out, or added without an id. The result depends on
// nothing else. req is not changed, and returned as it is when there is nothing to do.
func Project(c *Compaction, all, req []message.Message) []message.Message {
	start, ok := c.begin(all, req)
	if !ok && len(c.Shortened) == 0 {
		return req
	}
	out := make([]message.Message, 0, len(req)-start+len(c.Rescued)+1)
	if ok && c.Block != "" {
		out = append(out, c.block())
	}
	if ok {
		for _, id := range c.Rescued {
			if i := index(req[:start], id); i >= 0 {
				out = append(out, req[i])
			}
		}
	}
	return c.shorten(append(out, req[start:]...))
}

// block is the durable block as a message.
func (c *Compaction) block() message.Message {
	return conversation.Note("durable-context-"+strconv.Itoa(c.Number), BlockName, c.Block)
}

// begin is where the part of req begins that stands behind the cut; false if nothing is cut.
func (c *Compaction) begin(all, req []message.Message) (int, bool) {
	cut := c.Start(all)
	if cut == 0 {
		return 0, false
	}
	for _, m := range all[cut:] {
		if i := index(req, m.ID); i >= 0 {
			return skipResults(req, i), true
		}
	}
	gone := make(map[string]bool, cut)
	for _, m := range all[:cut] {
		gone[m.ID] = true
	}
	i := len(req)
	for i > 0 && !gone[req[i-1].ID] {
		i--
	}
	return skipResults(req, i), true
}

// skipResults passes tool results whose calls are before the cut: a repair has put them there.
func skipResults(req []message.Message, i int) int {
	for i < len(req) && req[i].Role == message.Tool {
		i++
	}
	return i
}

// shorten puts shortened messages into a list that is ours.
func (c *Compaction) shorten(msgs []message.Message) []message.Message {
	if len(c.Shortened) == 0 {
		return msgs
	}
	by := make(map[string]Short, len(c.Shortened))
	for _, s := range c.Shortened {
		by[s.ID] = s
	}
	for i := range msgs {
		if s, ok := by[msgs[i].ID]; ok {
			msgs[i] = s.Of(msgs[i])
		}
	}
	return msgs
}

// forward is the length in bytes of the first n characters.
func forward(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// backward is where the last n characters begin.
func backward(s string, n int) int {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}
