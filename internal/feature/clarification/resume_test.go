package clarification

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
)

// asked is a conversation whose last answer asks the questions, by call id and arguments.
func asked(calls ...string) []message.Message {
	msgs := []message.Message{message.New(message.Human, "do it"), message.New(message.AI, "One question.")}
	for i := 0; i < len(calls); i += 2 {
		r := Parse(json.RawMessage(calls[i+1]))
		m := message.New(message.Tool, r.Text())
		m.Name, m.ToolCallID, m.Artifact = ToolName, calls[i], r.Artifact(calls[i])
		msgs = append(msgs, m)
	}
	return msgs
}

func TestResumed(t *testing.T) {
	choice := []string{"c1", `{"question":"Which colour?","options":[{"label":"Red","value":"r"},"Blue"]}`}
	form := []string{"f1",
		`{"question":"Your trip?","fields":[{"name":"city","label":"City","required":true},{"name":"days","label":"Days"}]}`}
	both := append(append([]string{}, choice...), form...)
	const bad = "the thread waits for an answer"
	for _, c := range []struct {
		name   string
		calls  []string
		resume string
		want   []string // the texts, with the option after a bar and a star for a reply; or the beginning of the error
	}{
		{"a string", choice, `"blue, I think"`, []string{"blue, I think"}},
		{"by the question's id", choice, `{"clarification:c1":"green"}`,
			[]string{`* Answer to your question "Which colour?": green|`}},
		{"an option's value", choice, `{"clarification:c1":"r"}`,
			[]string{`* Answer to your question "Which colour?": Red (r)|option-1`}},
		{"an option's label", choice, `{"clarification:c1":"Blue"}`,
			[]string{`* Answer to your question "Which colour?": Blue|option-2`}},
		{"a form", form, `{"city":"Rome","days":3}`,
			[]string{"* Answer to your question \"Your trip?\":\nCity: Rome\nDays: 3|"}},
		{"a form by its id", form, `{"clarification:f1":{"city":"Rome"}}`,
			[]string{"* Answer to your question \"Your trip?\":\nCity: Rome|"}},
		{"a form in words", form, `{"clarification:f1":"to Rome"}`,
			[]string{"* Answer to your question \"Your trip?\":\nto Rome|"}},
		{"two questions", both, `{"clarification:f1":{"city":"Rome"},"clarification:c1":"r"}`,
			[]string{`* Answer to your question "Which colour?": Red (r)|option-1`,
				"* Answer to your question \"Your trip?\":\nCity: Rome|"}},
		{"one of two", both, `{"clarification:c1":"r"}`,
			[]string{`* Answer to your question "Which colour?": Red (r)|option-1`}},
		{"a string for two", both, `"red, and Rome"`, []string{"red, and Rome"}},
		{"a number", choice, `7`, []string{bad}},
		{"a list", choice, `["r"]`, []string{bad}},
		{"true", choice, `true`, []string{bad}},
		{"an empty string", choice, `" "`, []string{bad}},
		{"an empty object", choice, `{}`, []string{bad}},
		{"another id", choice, `{"clarification:c9":"r"}`, []string{bad}},
		{"an id too many", choice, `{"clarification:c1":"r","x":"y"}`, []string{bad}},
		{"decisions", choice, `{"decisions":[{"type":"approve"}]}`, []string{bad}},
		{"a number by id", choice, `{"clarification:c1":7}`, []string{bad}},
		{"a form without what it needs", form, `{"days":3}`, []string{bad}},
		{"a form with more", form, `{"city":"Rome","hotel":"yes"}`, []string{bad}},
		{"a form for two questions", both, `{"city":"Rome"}`, []string{bad}},
		{"nothing is asked", nil, `"x"`, nil},
		{"nothing is asked, a list", nil, `[1]`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			msgs, err := Resumed(asked(c.calls...), json.RawMessage(c.resume))
			var got []string
			if err != nil {
				got = append(got, err.Error()[:len(bad)])
			}
			for _, m := range msgs {
				text := m.Text()
				if r, ok := ReadReply(m); ok && conversation.Hidden(m) {
					text = "* " + text + "|" + r.OptionID
				}
				got = append(got, text)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	_, err := Resumed(asked(both...), json.RawMessage(`1`))
	for _, part := range []string{`"Which colour?"`, `"clarification:c1": a string`,
		`"clarification:f1": a string or an object of city (required), days`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error %v does not tell of %s", err, part)
		}
	}
}
