package history

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/message"
)

// What the program says where somebody must speak. These are sent again with each request: they must never depend on
// time or chance.
const (
	sayBeginning = "(The beginning of this conversation is left out.)"
	sayContinue  = "Continue."
	sayRead      = "Understood."

	emptyUser   = "(empty message)"
	emptyAnswer = "(no answer)"
	emptyResult = "(no output)"

	unknownTool = "unknown_tool"
)

// Bounds of what is told, in characters.
const (
	mostProblem = 500
	mostAddress = 200
	mostName    = 80
)

const outcomeUnknown = "There is no result: the call was cut off, and its outcome is unknown. It may have had " +
	"effects; check before you repeat it."

// missing is the result of a call that has none. problem says why an invalid call was not run; it may be empty.
func missing(invalid bool, problem string) message.Message {
	text := outcomeUnknown
	if invalid {
		text = "This call was not run: its arguments are not a JSON object."
		if problem = strings.TrimSpace(problem); problem != "" {
			text += " (" + excerpt.Clip(problem, mostProblem) + ")"
		}
	}
	m := message.New(message.Tool, text)
	m.Status = message.StatusError
	return m
}

// orphaned is the message that a result without its call becomes; its parts follow the text.
func orphaned(m *message.Message) message.Message {
	of := "a tool"
	if !blank(m.Name) {
		of = strconv.Quote(excerpt.Clip(m.Name, mostName))
	}
	parts := append([]message.Part{message.Text("[Result of " + of + ", whose call is no longer in this " +
		"conversation:]\n")}, m.Content...)
	return message.Message{ID: m.ID, Role: message.Human, Content: parts, List: true}
}

// picture names an image by its address or, if it is data, by its kind and size.
func picture(p *message.Part) string {
	rest, isData := strings.CutPrefix(p.URL, "data:")
	if !isData {
		return excerpt.Clip(p.URL, mostAddress)
	}
	kind, data, _ := strings.Cut(rest, ",")
	kind, _, _ = strings.Cut(kind, ";")
	return excerpt.Clip(kind, mostName) + ", " + units.Bytes(float64(len(data)/4*3))
}

func unseen(p *message.Part) message.Part {
	return message.Text("[picture: " + picture(p) + "; this model cannot see pictures]")
}

func misplaced(p *message.Part) message.Part {
	return message.Text("[picture: " + picture(p) + "; it cannot be shown here]")
}

func shownBelow(p *message.Part) message.Part {
	return message.Text("[picture: " + picture(p) + "; it is shown below]")
}

func pictureOf(tool string) message.Part {
	return message.Text("[From the result of " + tool + ":]")
}

// unreadable is what remains of a raw part that the wire does not know.
func unreadable(p *message.Part) message.Part {
	note := "[content of a kind that this model cannot read"
	if kind := string(rawMember(p.Raw, `"type"`)); len(kind) > 2 {
		note += ": " + excerpt.Clip(strings.Trim(kind, `"`), mostName)
	}
	note += "]"
	if text, ok := rawjson.String(rawMember(p.Raw, `"text"`)); ok && !blank(text) {
		note += "\n" + text
	}
	return message.Text(note)
}

// invalidArguments keeps what the model wrote inside an object, since wires want one.
func invalidArguments(args string) []byte {
	return append(rawjson.AppendString([]byte(`{"invalid_arguments":`), args), '}')
}

// blank reports whether nothing in s can be seen; most texts say so with their first byte.
func blank(s string) bool {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return false
	}
	return strings.TrimSpace(s) == ""
}
