package conversation

import (
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/message"
)

func human(kwargs string) message.Message {
	m := message.New(message.Human, "x")
	_ = json.Unmarshal([]byte(kwargs), &m.Kwargs)
	return m
}

func TestWhoSpoke(t *testing.T) {
	reply := `{"hide_from_ui":true,"human_input_response":{"kind":"human_input_response","request_id":"r"}}`
	for _, c := range []struct {
		name string
		m    message.Message
		user bool
	}{
		{"a plain message", human(`{}`), true},
		{"a message that is not hidden", human(`{"hide_from_ui":false}`), true},
		{"a hidden message", human(`{"hide_from_ui":true}`), false},
		{"an answer", human(reply), true},
		{"an answer to nothing", human(`{"hide_from_ui":true,"human_input_response":{"kind":"human_input_response"}}`), false},
		{"an answer of another kind", human(`{"hide_from_ui":true,"human_input_response":{"kind":"x","request_id":"r"}}`), false},
		{"an answer that is no object", human(`{"hide_from_ui":true,"human_input_response":7}`), false},
		{"the model", message.New(message.AI, "x"), false},
		{"a note", Note("1", "loop_warning", "x"), false},
	} {
		if got := IsUser(c.m); got != c.user {
			t.Errorf("%s: user is %t", c.name, got)
		}
	}
}

func TestLastUser(t *testing.T) {
	msgs := []message.Message{human(`{}`), message.New(message.AI, "x"), Note("1", "n", "x")}
	if got := LastUser(msgs); got != 0 {
		t.Errorf("got %d", got)
	}
	if got := LastUser(msgs[1:]); got != -1 {
		t.Errorf("got %d of none", got)
	}
	if !IsNote(msgs[2], "n") || IsNote(msgs[2], "m") || IsNote(msgs[0], "") {
		t.Error("a note is not known by its name")
	}
}
