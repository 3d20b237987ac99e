package clarification

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// Resumed makes the messages with which the user answers what is asked at the end of the conversation, out of the value
// that a LangGraph client resumes the thread with: of a string a message in the user's words, of an object of answers
// by request id a reply to each of these questions, of an object with the fields of the one form that is asked its
// reply. Any other value is an error, which says what would be right. Without an open question there is neither.
func Resumed(msgs []message.Message, value json.RawMessage) ([]message.Message, error) {
	open, _ := Open(msgs)
	if len(open) == 0 {
		return nil, nil
	}
	var text string
	if json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) != "" {
		return []message.Message{message.New(message.Human, text)}, nil
	}
	answers, ok := rawjson.Members(value)
	if !ok || len(answers) == 0 {
		return nil, wanted(open)
	}
	if len(open) == 1 && open[0].fits(answers) {
		answers = map[string]json.RawMessage{open[0].RequestID: value}
	}
	var out []message.Message
	for _, q := range open {
		answer, ok := answers[q.RequestID]
		if !ok {
			continue
		}
		r, ok := q.replied(answer)
		if !ok {
			return nil, wanted(open)
		}
		delete(answers, q.RequestID)
		out = append(out, r.Message(q))
	}
	if len(answers) > 0 {
		return nil, wanted(open)
	}
	return out, nil
}

// replied is the reply with one answer: a text, an option's value, label or id, or the fields of a form.
func (q Shown) replied(answer json.RawMessage) (Reply, bool) {
	if form, ok := rawjson.Members(answer); ok {
		r := NewReply(q, "", "")
		r.Value = answer
		return r, q.fits(form)
	}
	var text string
	if json.Unmarshal(answer, &text) != nil || strings.TrimSpace(text) == "" {
		return Reply{}, false
	}
	for _, o := range q.Options {
		if text == o.Value || text == o.Label || text == o.ID {
			return NewReply(q, o.Value, o.ID), true
		}
	}
	return NewReply(q, text, ""), true
}

// fits reports whether the members are fields of the form, and whether all that must be there are.
func (q Shown) fits(members map[string]json.RawMessage) bool {
	known := make(map[string]bool)
	for _, f := range q.Fields {
		known[f.Name] = true
		if v := string(members[f.Name]); f.Required && (v == "" || v == "null" || v == `""`) {
			return false
		}
	}
	for name := range members {
		if !known[name] {
			return false
		}
	}
	return len(q.Fields) > 0
}

// wanted is the error that says what the questions could be answered with.
func wanted(open []Shown) error {
	by := make(map[string]string)
	for _, q := range open {
		by[q.RequestID] = "a string"
		if len(q.Fields) > 0 {
			by[q.RequestID] += " or an object of " + strings.Join(q.names(), ", ")
		}
	}
	var keys []string
	for _, id := range slices.Sorted(maps.Keys(by)) {
		keys = append(keys, fmt.Sprintf("%q: %s", id, by[id]))
	}
	return fmt.Errorf("the thread waits for an answer to %q: resume it with a string, or with an object {%s}",
		excerpt.Clip(open[0].Question, maxQuoted), strings.Join(keys, ", "))
}

// names are the fields of a form, with a mark at those that must be there.
func (q Shown) names() []string {
	var names []string
	for _, f := range q.Fields {
		if f.Required {
			f.Name += " (required)"
		}
		names = append(names, f.Name)
	}
	return names
}
