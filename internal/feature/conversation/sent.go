package conversation

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
)

// AppendSent appends a message as it is sent: what comes from outside without the power of the program's own words,
// which stay as they are. The message alone decides, so that the requests of a thread begin alike. What is kept of
// calls (internal/feature/calls) is read back by this function: a change of what it makes of a message needs a new
// version there.
func AppendSent(out []message.Message, m *message.Message) []message.Message {
	if m.Role != message.System && (m.Role != message.Human || !FromOutside(*m)) {
		return append(out, *m)
	}
	sent := *m
	if !change(&sent) {
		return out
	}
	return append(out, sent)
}

// change makes of a message what is sent, and reports whether there is anything to send: an empty system message is
// left out, because there are providers that refuse an empty message.
func change(m *message.Message) bool {
	if m.Role == message.Human {
		m.Content = content(*m)
		return true
	}
	if day, ok := DateOf(*m); ok {
		m.Content = []message.Part{message.Text(DateText(day))}
	} else {
		m.Content = MapText(m.Content, untrusted.Input)
	}
	m.Role, m.Kwargs = message.Human, message.Fields{message.KeyHidden: json.RawMessage("true")}
	return strings.TrimSpace(m.Text()) != ""
}

// content returns the parts of a message from outside as they are sent: its text in one part, sanitized and marked, and
// images where they were. What the program has put in front of the user's text stays as it is.
func content(m message.Message) []message.Part {
	own, ok := rawjson.String(m.Kwargs[KeyUserContent])
	switch {
	case !ok:
		return MapText(m.Content, untrusted.Input)
	case own == "":
		return m.Content
	}
	at, in := begin(m.Content, own)
	if at < 0 {
		return behindFirst(m.Content)
	}
	out := make([]message.Part, 0, len(m.Content))
	for i, p := range m.Content {
		if i == at {
			p.Text = p.Text[:in] + untrusted.Input(own)
		} else if i > at && p.Type == message.PartText {
			continue
		}
		out = append(out, p)
	}
	return out
}

// begin finds where own begins, with which the text of the parts ends: the part, and the byte in it. A line break may
// stand between two parts for the border between them. The part is -1 if the text does not end so.
func begin(parts []message.Part, own string) (at, in int) {
	for i, p := range slices.Backward(parts) {
		if p.Type != message.PartText || p.Text == "" {
			continue
		}
		if before, ok := strings.CutSuffix(p.Text, own); ok {
			return i, len(before)
		}
		if own, ok := strings.CutSuffix(own, p.Text); ok {
			if at, in = begin(parts[:i], own); at < 0 {
				at, in = begin(parts[:i], strings.TrimSuffix(own, "\n"))
			}
			return at, in
		}
		return -1, 0
	}
	return -1, 0
}

// behindFirst is for a text that does not end with the user's own, as its mark says: of several parts the first is the
// program's and stays, the others are from outside. One part alone is all from outside.
func behindFirst(parts []message.Part) []message.Part {
	isText := func(p message.Part) bool { return p.Type == message.PartText }
	first := slices.IndexFunc(parts, isText)
	if first < 0 || !slices.ContainsFunc(parts[first+1:], isText) {
		return MapText(parts, untrusted.Input)
	}
	return append(slices.Clone(parts[:first+1]), MapText(parts[first+1:], untrusted.Input)...)
}
