package event

import "strings"

// Cuts returns the boundaries of the pieces that a message was streamed in, for [Message.Chunks]. whole is the finished
// message as one piece: all its reasoning, all its text, and its tool calls in order, whatever their Index.
//
// [Message.Split] gives back exactly the pieces, whatever became of them in the message: one that whole does not hold
// in its place stands in its Cut in full.
func Cuts(whole Chunk, pieces []Chunk) []Cut {
	k := newCutter(whole)
	cuts := make([]Cut, len(pieces))
	for i, p := range pieces {
		if !k.pass(p) {
			p.MessageID = ""
			cuts[i].Piece = &p
			continue
		}
		cuts[i].Reasoning, cuts[i].Text = len(p.Reasoning), len(p.Text)
		for _, tc := range p.ToolCalls {
			cuts[i].Args = append(cuts[i].Args, tc.Index, len(tc.Args))
		}
	}
	return cuts
}

// Split cuts the finished message into the pieces that it was streamed in. whole is as for [Cuts].
func (m Message) Split(whole Chunk) []Chunk {
	k := newCutter(whole)
	out := make([]Chunk, len(m.Chunks))
	for i, c := range m.Chunks {
		if c.Piece != nil {
			out[i] = *c.Piece
			k.pass(out[i])
		} else {
			out[i] = k.cut(c)
		}
		out[i].MessageID = m.MessageID
	}
	return out
}

// Numbers returns the numbers of the ids of the chunks.
func (m Message) Numbers() []int64 {
	out := make([]int64, len(m.Chunks))
	n := m.First
	for i, c := range m.Chunks {
		n += int64(c.Skip)
		out[i] = n
		n++
	}
	return out
}

// cutter goes through a finished message from piece to piece.
type cutter struct {
	reasoning, text string                 // what is left
	calls           []ToolCallChunk        // not yet begun
	begun           map[int]*ToolCallChunk // by the index of their pieces: what is left
}

func newCutter(whole Chunk) *cutter {
	return &cutter{
		reasoning: whole.Reasoning,
		text:      whole.Text,
		calls:     whole.ToolCalls,
		begun:     make(map[int]*ToolCallChunk),
	}
}

// call is what is left of the call with the index: the first index to appear stands for the first call, and so on.
func (k *cutter) call(index int) *ToolCallChunk {
	c := k.begun[index]
	if c == nil {
		c = &ToolCallChunk{}
		if len(k.calls) > 0 {
			*c, k.calls = k.calls[0], k.calls[1:]
		}
		k.begun[index] = c
	}
	return c
}

// pass goes behind a piece and reports whether it is what cut would give.
func (k *cutter) pass(p Chunk) bool {
	fits := passText(&k.reasoning, p.Reasoning)
	fits = passText(&k.text, p.Text) && fits
	for _, tc := range p.ToolCalls {
		c := k.call(tc.Index)
		fits = passText(&c.Args, tc.Args) && fits && tc.ID == c.ID && tc.Name == c.Name
		c.ID, c.Name = "", "" // only the first piece has them
	}
	return fits
}

func passText(left *string, piece string) bool {
	rest, ok := strings.CutPrefix(*left, piece)
	if ok {
		*left = rest
	}
	return ok
}

func (k *cutter) cut(c Cut) Chunk {
	p := Chunk{Reasoning: cutText(&k.reasoning, c.Reasoning), Text: cutText(&k.text, c.Text)}
	for i := 0; i+1 < len(c.Args); i += 2 {
		left := k.call(c.Args[i])
		p.ToolCalls = append(p.ToolCalls, ToolCallChunk{
			Index: c.Args[i], ID: left.ID, Name: left.Name, Args: cutText(&left.Args, c.Args[i+1]),
		})
		left.ID, left.Name = "", ""
	}
	return p
}

func cutText(left *string, n int) string {
	n = min(max(n, 0), len(*left)) // a damaged log must not end the program
	piece := (*left)[:n]
	*left = (*left)[n:]
	return piece
}
