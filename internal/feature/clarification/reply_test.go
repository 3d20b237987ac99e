package clarification

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
)

// shown is the question that a call's arguments make.
func shown(t *testing.T, args string) Shown {
	t.Helper()
	q, ok := ReadArtifact(Parse(json.RawMessage(args)).Artifact("c1"))
	if !ok {
		t.Fatal("the artifact cannot be read")
	}
	return q
}

func TestReplyInWords(t *testing.T) {
	choice := shown(t, `{"question":"Which  colour?","options":[{"label":"Red","value":"r"},"Blue"]}`)
	form := shown(t, `{"question":"Your trip?","fields":[{"name":"city","label":"City"},{"name":"meals","label":"Meals","type":"multi_select",
		"options":[{"label":"Lunch","value":"l"},"Dinner"]},{"name":"dog","label":"A dog?","type":"checkbox"}]}`)
	for _, tt := range []struct {
		name  string
		q     Shown
		reply string
		want  string
	}{
		{"text", choice, `{"response_kind":"text","value":"green"}`, `Answer to your question "Which colour?": green`},
		{"option", choice, `{"response_kind":"option","option_id":"option-2","value":"Blue"}`,
			`Answer to your question "Which colour?": Blue`},
		{"option with a value", choice, `{"response_kind":"option","option_id":"option-1","value":"r"}`,
			`Answer to your question "Which colour?": Red (r)`},
		{"the value of an option", choice, `{"value":"r"}`, `Answer to your question "Which colour?": Red (r)`},
		{"unknown option", choice, `{"option_id":"option-9","value":"x"}`,
			`Answer to your question "Which colour?": x`},
		{"several lines", choice, `{"value":"a\nb"}`, "Answer to your question \"Which colour?\":\na\nb"},
		{"question unknown", Shown{}, `{"value":"x"}`, "x"},
		{"nothing", Shown{}, `{}`, "(no answer)"},
		{"number", Shown{}, `{"value":7}`, "7"},
		{"form", form, `{"value":{"dog":true,"city":"Lisbon","meals":["l","Dinner"],"more":{"a": 1}}}`,
			"Answer to your question \"Your trip?\":\nCity: Lisbon\nMeals: Lunch (l), Dinner\nA dog?: yes\nmore: {\"a\":1}"},
		{"form in a string", form, `{"value":"{\"city\":\"Rome\",\"dog\":false,\"meals\":null}"}`,
			"Answer to your question \"Your trip?\":\nCity: Rome\nMeals: (no answer)\nA dog?: no"},
		{"form as text", form, `{"value":"City: Rome"}`, "Answer to your question \"Your trip?\":\nCity: Rome"},
		{"JSON that somebody typed", choice, `{"value":"{\"a\":1}"}`,
			`Answer to your question "Which colour?": {"a":1}`},
		{"form that is empty", form, `{"value":{}}`, "Answer to your question \"Your trip?\":\n(no answer)"},
	} {
		var r Reply
		if err := json.Unmarshal([]byte(tt.reply), &r); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, r.Text(tt.q)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	long := Shown{Question: strings.Repeat("é", 300)}
	if text := (Reply{Value: json.RawMessage(`"x"`)}).Text(long); len([]rune(text)) > 250 {
		t.Errorf("the question is not cut: %d runes", len([]rune(text)))
	}
}

func TestReplyTravelsInAMessage(t *testing.T) {
	q := shown(t, `{"question":"Which?","options":["Red","Blue"]}`)
	m := NewReply(q, "Red", "option-1").Message(q)
	want := `{"version":1,"kind":"human_input_response","source":"ask_clarification","request_id":"clarification:c1","response_kind":"option","option_id":"option-1","value":"Red"}`
	if diff := cmp.Diff(want, string(m.Kwargs["human_input_response"])); diff != "" {
		t.Error(diff)
	}
	r, ok := ReadReply(m)
	if !ok || r.OptionID != "option-1" || !conversation.IsUser(m) || !conversation.Hidden(m) {
		t.Errorf("%+v %t", r, ok)
	}
	if _, ok := ReadReply(message.New(message.Human, "Red")); ok {
		t.Error("a plain message is taken for a reply")
	}
}

func TestOpenQuestions(t *testing.T) {
	msg := func(role message.Role, name, artifact string) message.Message {
		return message.Message{Role: role, Name: name, Artifact: json.RawMessage(artifact)}
	}
	ask := func(id string) message.Message {
		return msg(message.Tool, ToolName, `{"human_input":{"kind":"human_input_request","request_id":"`+id+
			`","question":"q"}}`)
	}
	ai, ls, answered := msg(message.AI, "", ""), msg(message.Tool, "ls", ""), msg(message.Tool, ToolName, "")
	for _, tt := range []struct {
		name string
		msgs []message.Message
		want []string
	}{
		{"none", nil, nil},
		{"one", []message.Message{ask("old"), ai, ask("a")}, []string{"a"}},
		{"beside others", []message.Message{ai, ask("a"), ls, ask("b"), ls}, []string{"a", "b"}},
		{"behind a note", []message.Message{ai, ask("a"), conversation.Note("n", "todo_reminder", "x")}, []string{"a"}},
		{"answered", []message.Message{ai, ask("a"), message.New(message.Human, "x")}, nil},
		{"gone on", []message.Message{ai, ask("a"), ai}, nil},
		{"answered by the program", []message.Message{ai, answered}, nil},
	} {
		var got []string
		qs, asked := Open(tt.msgs)
		for _, q := range qs {
			got = append(got, q.RequestID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || len(asked) != len(qs) {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if q := Question([]message.Message{ask("a"), ai, ask("b")}, "a"); q.RequestID != "a" {
		t.Errorf("%+v", q)
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{`{"value":"x"}`, `{"value":{"a":[1,{"b":null}]}}`, `{"value":"{\"a\":\"\\u0000\"}"}`,
		`{"value":[[[]]],"option_id":"option-1"}`} {
		f.Add(s)
	}
	q, _ := ReadArtifact(Parse(json.RawMessage(`{"question":"q","options":["a"],"fields":[{"name":"a"}]}`)).
		Artifact("c"))
	f.Fuzz(func(t *testing.T, s string) {
		var r Reply
		if json.Unmarshal([]byte(s), &r) == nil && strings.TrimSpace(r.Text(q)) == "" {
			t.Errorf("%q says nothing", s)
		}
	})
}
