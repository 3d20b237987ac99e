package summarization

import (
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
)

// transcript writes messages down for the summarizing model, one entry each. No text of theirs can pass for a tag of
// it.
func transcript(msgs []message.Message) []string {
	entries := make([]string, 0, len(msgs))
	for i := range msgs {
		entries = append(entries, entry(&msgs[i]))
	}
	return entries
}

func entry(m *message.Message) string {
	var b strings.Builder
	switch m.Role {
	case message.Tool:
		b.WriteString(`<result tool="` + attribute(m.Name) + `"`)
		if m.Status == message.StatusError {
			b.WriteString(` status="error"`)
		}
		b.WriteString(">\n" + content(m) + "\n</result>")
	case message.AI:
		b.WriteString("<agent>\n" + content(m))
		for _, c := range m.ToolCalls {
			b.WriteString("\n<call tool=\"" + attribute(c.Name) + "\">" + compaction.Escape(string(c.Args)) + "</call>")
		}
		for _, c := range m.InvalidToolCalls {
			b.WriteString("\n<call tool=\"" + attribute(c.Name) + "\" status=\"invalid\"></call>")
		}
		b.WriteString("\n</agent>")
	case message.Human:
		if string(m.Kwargs[message.KeyHidden]) == "true" {
			b.WriteString("<note>\n" + content(m) + "\n</note>")
			break
		}
		b.WriteString("<user>\n" + content(m) + "\n</user>")
	default:
		b.WriteString("<note>\n" + content(m) + "\n</note>")
	}
	return b.String()
}

func content(m *message.Message) string {
	text := compaction.Escape(m.Text())
	for _, p := range m.Content {
		if p.Type == message.PartImage || p.Type == message.PartRaw {
			text += "\n[" + string(p.Type) + "]"
		}
	}
	return text
}

func attribute(s string) string { return strings.ReplaceAll(compaction.Escape(s), `"`, "'") }

// firstPiece takes entries of together at most size tokens off the list; of one that is larger it takes a part.
func firstPiece(entries []string, size int) (piece, rest []string) {
	left := size
	for i, e := range entries {
		n := tokens.Text(e)
		if n <= left {
			left -= n
			continue
		}
		if i > 0 {
			return entries[:i], entries[i:]
		}
		at := max(1, int(int64(len(e))*int64(size)/int64(n)))
		for at < len(e) && !utf8.RuneStart(e[at]) {
			at++
		}
		return []string{e[:at]}, append([]string{e[at:]}, entries[1:]...)
	}
	return entries, nil
}
