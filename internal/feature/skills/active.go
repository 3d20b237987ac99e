package skills

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
)

// TextNote is the name of the notes that give the model the text of a skill, and KeyActive the member that says which.
const (
	TextNote  = "skill_activation"
	KeyActive = "skill_activated"
)

// Active is a skill whose text was given to the model.
type Active struct {
	Name   string   `json:"name"`
	Digest string   `json:"digest"`
	Tools  []string `json:"allowed_tools"` // nil is no limit
	// Above says that the text stands in an earlier message.
	Above bool `json:"above,omitempty"`
}

// ActiveIn is what a message gives the text of; ok is false for other messages.
func ActiveIn(m message.Message) (a Active, ok bool) {
	raw := m.Kwargs[KeyActive]
	return a, conversation.IsNote(m, TextNote) && len(raw) > 0 && json.Unmarshal(raw, &a) == nil
}

// InUse lists the messages, by index, that say what skill the user's turn uses, and that have its text.
func InUse(msgs []message.Message) (at []int) {
	for i := len(msgs) - 1; i >= max(0, conversation.Turn(msgs)); i-- {
		a, ok := ActiveIn(msgs[i])
		if !ok {
			continue
		}
		for j := i - 1; j >= 0 && a.Above; j-- {
			if b, ok := ActiveIn(msgs[j]); ok && !b.Above && b.Name == a.Name && b.Digest == a.Digest {
				return []int{j, i}
			}
		}
		return []int{i}
	}
	return nil
}
