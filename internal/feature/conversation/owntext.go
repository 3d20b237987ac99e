package conversation

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
)

// OwnText is what the user wrote in the message: without what the program has put in front of it. It may be empty.
func OwnText(m message.Message) string {
	var own string
	if raw := m.Kwargs[KeyUserContent]; len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &own) == nil {
		return own
	}
	return m.Text()
}
