package conversation

import (
	"encoding/json"
	"maps"
	"reflect"

	"github.com/pudu-ai/pudu/message"
)

// KeyFromClient marks a hidden human message that a client wrote, as side chats do for their context. Without it a
// hidden message is the program's own.
const KeyFromClient = "pudu_from_client"

// KeyMemory says what of the memory a message of the program tells.
const KeyMemory = "memory_told"

// keyImages marks the program's message that shows images.
const keyImages = "deerflow_view_image_context"

// programKeys are the members of additional_kwargs that say what the program has done with a message. What a client
// writes there is dropped.
func programKeys() []string {
	return []string{KeyUserContent, KeyReminder, KeyReminderDate, KeyFromClient, KeyMemory, keyImages}
}

// FromClient returns a message that a client sent as it may enter the state: it cannot pass for the program's own
// words. was is the message of the thread that has its id, or nil. A message of the program that comes back as it was
// stays one: clients read a thread's messages and write them again.
func FromClient(m message.Message, was *message.Message) message.Message {
	if was != nil && (was.Role != m.Role || !reflect.DeepEqual(was.Content, m.Content)) {
		was = nil
	}
	kwargs := maps.Clone(m.Kwargs)
	if kwargs == nil {
		kwargs = message.Fields{}
	}
	for _, key := range programKeys() {
		delete(kwargs, key)
		if was != nil && was.Kwargs[key] != nil {
			kwargs[key] = was.Kwargs[key]
		}
	}
	if m.Role == message.Human && Hidden(m) && (was == nil || !Hidden(*was)) {
		kwargs[KeyFromClient] = json.RawMessage("true")
	}
	if len(kwargs) > 0 || m.Kwargs != nil {
		m.Kwargs = kwargs
	}
	return m
}

// FromOutside reports whether the words of a human message come from a user or a client, hidden or not: all but those
// that the program wrote itself.
func FromOutside(m message.Message) bool {
	return m.Role == message.Human && (!Hidden(m) || m.Kwargs[KeyFromClient] != nil || IsReply(m))
}

// MapText returns the parts with all their text, joined, as change makes it, in one part where the first text was. The
// other parts stay where they are.
func MapText(parts []message.Part, change func(string) string) []message.Part {
	all := message.Message{Content: parts}
	out := make([]message.Part, 0, len(parts))
	done := false
	for _, p := range parts {
		if p.Type == message.PartText {
			if done {
				continue
			}
			p.Text, done = change(all.Text()), true
		}
		out = append(out, p)
	}
	return out
}
