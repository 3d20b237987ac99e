// Package conversation knows whose words a message holds. A conversation has messages of the role human that no human
// wrote: reminders, dates and images that middlewares add for the model alone. Several middlewares look for what the
// user said last, and add notes of their own; both is defined here once.
package conversation

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/message"
)

// Keys of additional_kwargs.
const (
	// KeyReply is the user's answer to a question or form, sent in a message that clients hide.
	KeyReply = "human_input_response"
	// KeyUserContent holds the user's own text of a message that the program has put something in front of.
	KeyUserContent = "original_user_content"
)

const replyKind = "human_input_response"

// IsUser reports whether the user said it: a human message that is not hidden, or one that is hidden because it answers
// a question.
func IsUser(m message.Message) bool {
	return m.Role == message.Human && (!Hidden(m) || IsReply(m))
}

// IsReply reports whether the message is the user's answer to a question or form.
func IsReply(m message.Message) bool {
	var reply struct {
		Kind      string `json:"kind"`
		RequestID string `json:"request_id"`
	}
	raw := m.Kwargs[KeyReply]
	return m.Role == message.Human && len(raw) > 0 && json.Unmarshal(raw, &reply) == nil && reply.Kind == replyKind &&
		reply.RequestID != ""
}

// Hidden reports whether people are not to see the message.
func Hidden(m message.Message) bool { return string(m.Kwargs[message.KeyHidden]) == "true" }

// LastUser is the index of the newest message that the user said, or -1.
func LastUser(msgs []message.Message) int {
	for i, m := range slices.Backward(msgs) {
		if IsUser(m) {
			return i
		}
	}
	return -1
}

// KeyRun is the member of a user's message that names the run that has read it, as JSON.
const KeyRun = "run_id"

// Turn is the index of the message with which the last user's turn began: before what was said to the same run while it
// worked. -1 if no user has said anything.
func Turn(msgs []message.Message) int {
	last := LastUser(msgs)
	if last < 0 || len(msgs[last].Kwargs[KeyRun]) == 0 {
		return last
	}
	return slices.IndexFunc(msgs, func(m message.Message) bool {
		return IsUser(m) && bytes.Equal(m.Kwargs[KeyRun], msgs[last].Kwargs[KeyRun])
	})
}

// hiddenID begins the ids of hidden messages. LangChain's chat clients know a message by it that they are not to show.
const hiddenID = "do-not-render-"

// IDFor is the id of a message that has none yet, made of a fresh one.
func IDFor(m message.Message, fresh string) string {
	if Hidden(m) && !strings.HasPrefix(fresh, hiddenID) {
		return hiddenID + fresh
	}
	return fresh
}

// Note makes a message to the model that people do not see. It is stored like any other, so that every later request
// begins as this one did. name says who wrote it, such as "loop_warning".
func Note(id, name, text string) message.Message {
	m := message.New(message.Human, text)
	m.Name = name
	m.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true")}
	m.ID = IDFor(m, id)
	return m
}

// IsNote reports whether the message is a note of that name.
func IsNote(m message.Message, name string) bool {
	return m.Role == message.Human && m.Name == name && Hidden(m) && m.Kwargs[KeyFromClient] == nil
}
