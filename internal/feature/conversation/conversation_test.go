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
		{"an answer to nothing", human(`{"hide_from_ui":true,"human_input_response":{"kind":"human_input_response"}}`),
			false},
		{"an answer of another kind",
			human(`{"hide_from_ui":true,"human_input_response":{"kind":"x","request_id":"r"}}`), false},
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

// TestTurn: what was said to a run while it worked belongs to the turn that the run answers.
func TestTurn(t *testing.T) {
	user := func(run string) message.Message {
		m := message.New(message.Human, "x")
		if run != "" {
			m.Kwargs = message.Fields{KeyRun: []byte(run)}
		}
		return m
	}
	ai := message.New(message.AI, "x")
	for name, c := range map[string]struct {
		msgs []message.Message
		want int
	}{
		"nobody":      {[]message.Message{ai}, -1},
		"one turn":    {[]message.Message{user(`"a"`), ai}, 0},
		"two turns":   {[]message.Message{user(`"a"`), ai, user(`"b"`), ai}, 2},
		"a word":      {[]message.Message{user(`"a"`), ai, user(`"b"`), ai, user(`"b"`), ai}, 2},
		"two words":   {[]message.Message{user(`"a"`), ai, user(""), user(`"a"`), ai}, 0},
		"not read":    {[]message.Message{user(`"a"`), ai, user("")}, 2},
		"older ones":  {[]message.Message{user(""), ai, user(""), ai}, 2},
		"hidden ones": {[]message.Message{Note("n", "x", "x"), user(`"a"`), Note("n", "x", "x")}, 1},
	} {
		if got := Turn(c.msgs); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}
