package gemini

import (
	"bytes"
	"strconv"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// parts counts the parts of the message that a [message.Builder] makes of the chunks, to remember which text a thought
// signature belongs to: a chunk has no place for one, other than for that of a thought or a call.
type parts struct {
	n       int
	last    message.PartType
	closed  bool // the last part does not grow
	signed  message.Fields
	changed bool // since kwargs
}

func (p *parts) open(t message.PartType) {
	if p.n == 0 || p.last != t || p.closed {
		p.n++
		p.last, p.closed = t, false
	}
}

// text counts a piece of text.
func (p *parts) text() { p.open(message.PartText) }

// thought counts a piece of a thought; a signature ends its part.
func (p *parts) thought(signed bool) {
	p.open(message.PartReasoning)
	p.closed = signed
}

// sign keeps the signature of a text. Behind a thought, or at the beginning, there is none yet: the signature is the
// next text's, or, if none comes, that of a part without text.
func (p *parts) sign(signature []byte) {
	at := p.n - 1
	if p.n == 0 || p.last != message.PartText {
		at = p.n
	}
	if p.signed == nil {
		p.signed = message.Fields{}
	}
	p.signed[strconv.Itoa(at)], p.changed = bytes.Clone(signature), true
}

// kwargs are all signatures, if there are some that it has not returned yet.
func (p *parts) kwargs() message.Fields {
	if !p.changed {
		return nil
	}
	p.changed = false
	return message.Fields{keySignatures: rawjson.FromMembers(p.signed)}
}
