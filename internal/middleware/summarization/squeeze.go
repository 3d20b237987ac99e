package summarization

import (
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
)

// A text that does not fit into the window is shortened to at most largest characters, and to no less than smallest.
const largest, smallest = 32_000, 500

// squeeze makes what is sent fit into room, whatever it takes: it cuts all that the model has seen, shortens what it
// has not, cuts everything away but what is rescued, shortens that, and leaves out images. false: even that is too
// large.
func (p *plan) squeeze(room, block int) bool {
	tools := func(m *message.Message) bool {
		return m.Role == message.Tool || m.Role == message.Human && conversation.Hidden(*m)
	}
	people := func(m *message.Message) bool { return m.Role == message.Human || m.Role == message.System }
	both := func(m *message.Message) bool { return tools(m) || people(m) }
	if p.total() > room && p.unseen > p.cut {
		p.cutAt(p.unseen, block)
	}
	if p.cap(room, false, tools) {
		return true
	}
	if n := len(p.all); p.cut < n && p.all[n-1].Role != message.Human {
		p.cutAt(n, block)
	}
	return p.cap(room, false, people) || p.cap(room, true, both)
}

// cap shortens the messages of a kind to ever less until the whole has the size.
func (p *plan) cap(room int, textOnly bool, kind func(*message.Message) bool) bool {
	for most := largest; most >= smallest; most /= 2 {
		if p.total() <= room {
			return true
		}
		for i := range p.all {
			if m := &p.all[i]; kind(m) && (i >= p.cut || slices.Contains(p.rescued, i)) {
				p.capOne(i, most, textOnly)
			}
		}
	}
	return p.total() <= room
}

func (p *plan) capOne(i, most int, textOnly bool) {
	m, s := &p.all[i], p.short[i]
	if s.Keep > 0 {
		most = min(most, s.Keep)
	}
	drop := textOnly && !s.TextOnly && sizeOf(m) > tokens.Text(m.Text())+tokens.LowImage
	if !drop && (len(m.Text()) <= most || s.Keep == most) {
		return
	}
	next := compaction.Short{ID: m.ID, Keep: most, TextOnly: textOnly, Note: noteFor(m, most, pathFor(m))}
	if drop && len(m.Text()) <= most {
		next.Note = imagesLeftOut
	}
	p.shorten(i, next)
}
