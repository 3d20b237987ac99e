package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// textBlock writes a text block wherever one can stand.
func (w *writer) textBlock(text string) {
	w.buf = append(w.buf, `{"type":"text"`...)
	w.member("text", text)
	w.buf = append(w.buf, '}')
}

// text writes text of a message, unless it is blank: the API rejects that.
func (w *writer) text(user bool, text string) {
	if blank(text) {
		return
	}
	w.begin(user)
	w.textBlock(text)
	w.marked()
}

// parts writes a user's message.
func (w *writer) parts(parts []message.Part) error {
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Type == message.PartText:
			w.text(true, p.Text)
		case p.Type == message.PartImage:
			w.begin(true)
			if err := w.image(p.URL); err != nil {
				return err
			}
			w.marked()
		case p.Type == message.PartRaw && len(p.Raw) > 0:
			w.begin(true)
			if err := w.raw(p.Raw); err != nil {
				return err
			}
			w.marked()
		}
	}
	return nil
}

// image takes a data: URL with base64 content, or an address that the API fetches itself.
func (w *writer) image(url string) error {
	rest, isData := strings.CutPrefix(url, "data:")
	if !isData {
		w.buf = append(w.buf, `{"type":"image","source":{"type":"url"`...)
		w.member("url", url)
		w.buf = append(w.buf, `}}`...)
		return nil
	}
	kind, data, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return w.model.badRequest("an image's data: URL has no base64 content; give it as data:image/png;base64,...")
	}
	w.buf = append(w.buf, `{"type":"image","source":{"type":"base64"`...)
	w.member("media_type", kind)
	w.member("data", data)
	w.buf = append(w.buf, `}}`...)
	return nil
}

// raw writes a block that the caller gives as the API has it, such as a document, byte for byte. Only a cache mark of
// its own is taken out: the marks are counted, and set in cache.go.
func (w *writer) raw(block json.RawMessage) error {
	members, ok := rawjson.Members(block)
	if !ok || !json.Valid(block) || len(members) == 0 {
		return w.model.badRequest("a content block is no JSON object")
	}
	if _, own := members["cache_control"]; own {
		delete(members, "cache_control")
		block = rawjson.FromMembers(members)
	}
	w.buf = append(w.buf, bytes.TrimSpace(block)...)
	return nil
}

// result writes a tool's answer: text, images, documents.
func (w *writer) result(msg *message.Message) error {
	w.begin(true)
	w.buf = append(w.buf, `{"type":"tool_result"`...)
	w.member("tool_use_id", msg.ToolCallID)
	first := true
	next := func() {
		w.buf = append(w.buf, pick(first, `,"content":[`, `,`)...)
		first = false
	}
	for i := range msg.Content {
		p := &msg.Content[i]
		var err error
		switch {
		case p.Type == message.PartText && !blank(p.Text):
			next()
			w.textBlock(p.Text)
		case p.Type == message.PartImage:
			next()
			err = w.image(p.URL)
		case p.Type == message.PartRaw && len(p.Raw) > 0:
			next()
			err = w.raw(p.Raw)
		}
		if err != nil {
			return err
		}
	}
	if !first {
		w.buf = append(w.buf, ']')
	}
	if msg.Status == message.StatusError {
		w.buf = append(w.buf, `,"is_error":true`...)
	}
	w.buf = append(w.buf, '}')
	w.marked()
	return nil
}

// assistant writes an answer: thinking that goes back, text and calls, in the order in which they came.
func (w *writer) assistant(msg *message.Message) {
	ours, calls := w.model.client.Made(msg), callsInOrder(msg)
	for i := range msg.Content {
		p := &msg.Content[i]
		calls = w.callsUpTo(calls, place{part: i})
		if w.sendsThinking(p, ours) {
			w.thinking(p)
		}
		if p.Type != message.PartText {
			continue
		}
		done := 0
		for len(calls) > 0 && calls[0].part == i {
			at := max(done, textPlace(p.Text, calls[0].offset))
			w.text(false, p.Text[done:at])
			done = at
			calls = w.callsUpTo(calls, calls[0].place)
		}
		w.text(false, p.Text[done:])
	}
	w.callsUpTo(calls, place{part: len(msg.Content)})
}

// callsUpTo writes the calls that stand at or before a place and returns the others.
func (w *writer) callsUpTo(calls []placedCall, at place) []placedCall {
	for len(calls) > 0 && !at.before(calls[0].place) {
		w.call(&calls[0])
		calls = calls[1:]
	}
	return calls
}

func (w *writer) thinking(p *message.Part) {
	w.begin(false)
	if p.Redacted != "" {
		w.buf = append(w.buf, `{"type":"redacted_thinking"`...)
		w.member("data", p.Redacted)
	} else {
		w.buf = append(w.buf, `{"type":"thinking"`...)
		w.member("thinking", p.Text)
		w.member("signature", p.Signature)
	}
	w.buf = append(w.buf, '}')
}

// call writes a call, its arguments byte for byte.
func (w *writer) call(c *placedCall) {
	w.begin(false)
	w.buf = append(w.buf, `{"type":"tool_use"`...)
	w.member("id", c.id)
	w.member("name", c.name)
	w.buf = append(w.buf, `,"input":`...)
	w.buf = append(append(w.buf, c.args...), '}')
	w.marked()
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
