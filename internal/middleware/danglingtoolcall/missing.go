package danglingtoolcall

import (
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
)

// mostDetail bounds the words about bad arguments, in bytes.
const mostDetail = 500

// missing is the error that answers a call without a result.
func missing(c *call) message.Message {
	text := "There is no result: the run was interrupted before this call finished. It may have had effects; check " +
		"before you repeat it."
	if c.problem != "" {
		text = "This call was not run: " + c.problem + "."
		if c.Name == "write_file" {
			text += " Long content is easily cut off: write the first part, then append the others in calls of their " +
				"own."
		}
	}
	m := message.New(message.Tool, text)
	m.Status = message.StatusError
	return m
}

// describe says in bounded words what is wrong with arguments.
func describe(detail string) string {
	const general = "its arguments are not a JSON object"
	detail = strings.TrimSpace(detail)
	if detail == "" {
		return general
	}
	return general + " (" + strings.TrimRight(excerpt.Bound(detail, mostDetail), ".") + ")"
}
