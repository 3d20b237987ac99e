package cli

import (
	"strings"

	"charm.land/glamour/v2"

	"github.com/pudu-ai/pudu/internal/inert"
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

// markdown renders a block for a terminal of the given width. Text that cannot be rendered comes back as it is.
func markdown(block string, width int, plain bool) string {
	look := "dark"
	if plain {
		look = "notty"
	}
	r, err := glamour.NewTermRenderer(glamour.WithStandardStyle(look), glamour.WithWordWrap(width))
	if err != nil {
		return block
	}
	out, err := r.Render(block)
	if err != nil {
		return block
	}
	lines := strings.Split(out, "\n")
	blank := func(line string) bool { return strings.TrimSpace(inert.Text(line)) == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n") + "\n\n"
}
