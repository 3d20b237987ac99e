package summarization

import (
	"math"
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
)

// Bounds of shortened texts, in characters.
const (
	// shortened is what is left of a tool result that the model has seen and that makes room.
	shortened = 1500
	// worthwhile is the least size of a result that is shortened for it.
	worthwhile = 4000
)

// Bounds of the room for the durable block, which has a quarter of what there is.
const mostBlock, leastBlock = 4500, 300

// plan decides what of a conversation stays to be sent. All sizes are our own guesses of messages.
type plan struct {
	all []message.Message
	// start is where the part begins that is sent now, cut where the one begins that will be.
	start, cut int
	ok         []bool // the possible cuts
	unseen     int
	sizes      []int // of each message behind start, as it will be sent
	added      []int // what wrappers outside add to each
	short      map[int]compaction.Short
	rescued    []int
	block      int // the room that the durable block may take; 0 if there is none yet
}

// newPlan is the plan that changes nothing. sent are the messages as wrappers outside have made them, as far as they
// are known.
func newPlan(c *compaction.Compaction, all, sent []message.Message) *plan {
	p := &plan{all: all, ok: cuts(all), unseen: unseen(all), short: make(map[int]compaction.Short)}
	p.sizes, p.added = make([]int, len(all)), make([]int, len(all))
	p.start = c.Start(all)
	p.add(sent)
	p.cut = p.start
	for p.unseen > 0 && !p.ok[p.unseen] {
		p.unseen--
	}
	p.unseen = max(p.unseen, p.start)
	by := make(map[string]compaction.Short, len(c.Shortened))
	for _, s := range c.Shortened {
		by[s.ID] = s
	}
	for i := range all {
		if s, ok := by[all[i].ID]; ok {
			p.shorten(i, s)
		} else if i >= p.start {
			p.sizes[i] = sizeOf(&all[i]) + p.added[i]
		}
	}
	if p.start > 0 {
		p.block = blockSize(c.Block)
		for i := range all[:p.start] {
			if slices.Contains(c.Rescued, all[i].ID) {
				p.rescue(i)
			}
		}
	}
	return p
}

// add notes how much larger messages are as they are sent.
func (p *plan) add(sent []message.Message) {
	if len(sent) == 0 {
		return
	}
	size := make(map[string]int, len(sent))
	for i := range sent {
		size[sent[i].ID] = sizeOf(&sent[i])
	}
	for i := range p.all {
		if n := size[p.all[i].ID]; n > 0 {
			p.added[i] = max(0, n-sizeOf(&p.all[i]))
		}
	}
}

// blockSize is the size of the durable block as a message.
func blockSize(text string) int { return tokens.Text(text) + 10 }

func (p *plan) rescue(i int) {
	p.rescued = append(p.rescued, i)
	if p.sizes[i] == 0 {
		p.sizes[i] = sizeOf(&p.all[i]) + p.added[i]
	}
}

// shorten sends message i shortened.
func (p *plan) shorten(i int, s compaction.Short) {
	m := s.Of(p.all[i])
	p.short[i] = s
	p.sizes[i] = sizeOf(&m) + p.added[i]
}

// total is the size of what is sent.
func (p *plan) total() int {
	n := p.block
	for _, i := range p.rescued {
		n += p.sizes[i]
	}
	for _, s := range p.sizes[p.cut:] {
		n += s
	}
	return n
}

// count is how many messages are sent.
func (p *plan) count() int {
	n := len(p.rescued) + len(p.all) - p.cut
	if p.block > 0 {
		n++
	}
	return n
}

// seenResults lists the results behind the cut that the model has seen and that are worth to be shortened, oldest
// first.
func (p *plan) seenResults() []int {
	var list []int
	for i := p.cut; i < p.unseen; i++ {
		if m := &p.all[i]; m.Role == message.Tool && p.short[i].Keep == 0 && len(m.Text()) >= worthwhile {
			list = append(list, i)
		}
	}
	return list
}

// shortenSeen shortens results that the model has seen, oldest first, until the whole has the size.
func (p *plan) shortenSeen(room int) {
	for _, i := range p.seenResults() {
		if p.total() <= room {
			return
		}
		p.shorten(i, compaction.Short{ID: p.all[i].ID, Keep: shortened,
			Note: noteFor(&p.all[i], shortened, pathFor(&p.all[i]))})
	}
}

// saving is how many bytes of seen results could be left out.
func (p *plan) saving() int {
	n := 0
	for _, i := range p.seenResults() {
		n += len(p.all[i].Text()) - shortened
	}
	return n
}

// savingOf is the same without a plan, whose sizes cost too much to be found out before every call.
func savingOf(c *compaction.Compaction, all []message.Message) int {
	p := &plan{all: all, cut: c.Start(all), unseen: unseen(all), short: make(map[int]compaction.Short)}
	for i := p.cut; i < p.unseen; i++ {
		for _, s := range c.Shortened {
			if s.ID == all[i].ID {
				p.short[i] = s
			}
		}
	}
	return p.saving()
}

// cutAt moves the cut to a place behind the present one.
func (p *plan) cutAt(i, block int) {
	p.cut, p.rescued, p.block = i, nil, block
	for _, j := range rescue(p.all, i) {
		p.rescue(j)
	}
}

// choose cuts so that keep stays, or less if that is larger than room even with the results shortened. What the model
// has not seen always stays.
func (p *plan) choose(keep Amount, window, room, block int) {
	i := min(p.wanted(keep, window), p.unseen)
	for i > p.start && !p.ok[i] {
		i--
	}
	for ; i < p.unseen; i++ {
		if !p.ok[i] {
			continue
		}
		p.cutAt(i, block)
		if p.total()-p.saving()/4 <= room {
			break
		}
	}
	for i > p.start && !p.ok[i] {
		i--
	}
	if i <= p.start {
		return
	}
	p.cutAt(i, block)
	p.shortenSeen(room)
}

// wanted is where the part begins that should stay.
func (p *plan) wanted(keep Amount, window int) int {
	amount := keep.Tokens
	switch {
	case keep.Messages > 0:
		return max(p.start, len(p.all)-keep.Messages)
	case amount == 0:
		amount = int(keep.Fraction * float64(window))
	}
	if amount == 0 {
		return max(p.start, len(p.all)-defaultKeep)
	}
	i := len(p.all)
	for i > p.start && amount >= p.sizes[i-1] {
		i--
		amount -= p.sizes[i]
	}
	return i
}

// removed lists what a cut takes away that is sent now, without what it rescues.
func (p *plan) removed() (count, size int) {
	for i := p.start; i < p.cut; i++ {
		if !slices.Contains(p.rescued, i) {
			count++
			size += p.sizes[i]
		}
	}
	return count, size
}

// ids are those of the rescued messages, in order.
func (p *plan) ids() []string {
	var ids []string
	for _, i := range p.rescued {
		ids = append(ids, p.all[i].ID)
	}
	return ids
}

// shorts are the shortened messages that are sent, in order.
func (p *plan) shorts() []compaction.Short {
	var list []compaction.Short
	for i := range p.all {
		if s, ok := p.short[i]; ok && (i >= p.cut || slices.Contains(p.rescued, i)) {
			list = append(list, s)
		}
	}
	return list
}

// unbounded is the room where size does not matter.
const unbounded = math.MaxInt / 2
