package uploads

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/uploaded"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// keyFiles holds what a client says of the files that it sent with a message.
const keyFiles = "files"

// maxNamed bounds the files that one message names.
const maxNamed = 100

// filesOf returns the names of the files that a message came with. Entries that are no object, and names that no upload
// can have, are passed over.
func filesOf(m message.Message) (names []string) {
	raw := m.Kwargs[keyFiles]
	if len(raw) == 0 || !json.Valid(raw) {
		return nil
	}
	entries, _ := rawjson.Elements(raw)
	for _, e := range entries[:min(len(entries), maxNamed)] {
		fields, _ := rawjson.Members(e)
		name, ok := rawjson.String(fields["filename"])
		if ok && uploaded.IsName(name) {
			names = append(names, name)
		}
	}
	return names
}

// bare returns a message as its user wrote it, and whether that is another one. Clients send messages again with the
// block that they got, and may call anything the user's own part of one; from here on both are this program's word.
func bare(m message.Message) (message.Message, bool) {
	changed := false
	if m.Kwargs[conversation.KeyUserContent] != nil {
		m.Kwargs = maps.Clone(m.Kwargs)
		delete(m.Kwargs, conversation.KeyUserContent)
		changed = true
	}
	if len(m.Content) == 0 || m.Content[0].Type != message.PartText ||
		!strings.HasPrefix(m.Content[0].Text, blockBegin) {
		return m, changed
	}
	first := m.Content[0]
	_, own, ok := strings.Cut(first.Text, blockEnd)
	if !ok {
		return m, changed
	}
	first.Text = strings.TrimLeft(own, "\n")
	if m.Content = m.Content[1:]; first.Text != "" || len(m.Content) == 0 {
		m.Content = append([]message.Part{first}, m.Content...)
	}
	return m, true
}
