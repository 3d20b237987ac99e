package cli

import (
	"strings"

	terminal "github.com/pudu-ai/pudu/internal/lib/markdown"
)

// blocks cuts streamed Markdown into blocks that can be rendered one by one: at blank lines outside code fences.
type blocks struct {
	pending strings.Builder
	fence   string // the marker that closes the open fence; empty outside
}

// add takes the next piece of text and returns the blocks that it completes.
func (b *blocks) add(text string) []string {
	var done []string
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			b.pending.WriteString(text)
			return done
		}
		b.pending.WriteString(text[:i+1])
		text = text[i+1:]
		all := b.pending.String()
		line := strings.TrimSpace(all[strings.LastIndexByte(all[:len(all)-1], '\n')+1:])
		b.fenceLine(line)
		if line == "" && b.fence == "" {
			if strings.TrimSpace(all) != "" {
				done = append(done, all)
			}
			b.pending.Reset()
		}
	}
}

// fenceLine notes a line that opens or closes a fence.
func (b *blocks) fenceLine(line string) {
	for _, mark := range []string{"```", "~~~"} {
		switch {
		case b.fence == "" && strings.HasPrefix(line, mark):
			b.fence = mark
			return
		case b.fence == mark && strings.TrimLeft(line, mark[:1]) == "" && strings.HasPrefix(line, mark):
			b.fence = ""
			return
		}
	}
}

// rest returns what is not complete yet and forgets it.
func (b *blocks) rest() string {
	s := b.pending.String()
	*b = blocks{}
	return s
}

// markdown renders a block for a terminal of the given width.
func markdown(block string, width int, plain bool) string {
	return terminal.Render(block, width, plain) + "\n\n"
}
