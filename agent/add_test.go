package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// addMessages is LangGraph's add_messages in the plainest words, on ids and texts.
func addMessages(left, right []message.Message) ([]message.Message, error) {
	for i, m := range slices.Backward(right) {
		if m.Role == message.Remove && m.ID == message.RemoveAll {
			left, right = nil, right[i+1:]
			break
		}
	}
	merged := slices.Clone(left)
	drop := map[string]bool{}
	for _, m := range right {
		i := slices.IndexFunc(merged, func(o message.Message) bool { return o.ID == m.ID })
		switch {
		case m.Role == message.Remove && i < 0:
			return nil, fmt.Errorf("unknown id %q", m.ID)
		case m.Role == message.Remove:
			drop[m.ID] = true
		case i >= 0:
			merged[i] = m
			delete(drop, m.ID)
		default:
			merged = append(merged, m)
		}
	}
	return slices.DeleteFunc(merged, func(m message.Message) bool { return drop[m.ID] }), nil
}

func TestAddMessagesEqualsTheReference(t *testing.T) {
	msg := rapid.Custom(func(t *rapid.T) message.Message {
		m := message.New(message.Human, rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "text"))
		m.ID = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")
		if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
			m = message.Message{Role: message.Remove, ID: rapid.SampledFrom([]string{m.ID, message.RemoveAll}).
				Draw(t, "what")}
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		var s state.State
		var want []message.Message
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			batch := rapid.SliceOfN(msg, 1, 6).Draw(t, "batch")
			next, errWant := addMessages(want, batch)
			u, err := agent.AddMessages(s, batch, func() string { return "new" })
			if (err != nil) != (errWant != nil) {
				t.Fatalf("got error %v, want %v", err, errWant)
			}
			if err != nil {
				continue
			}
			if s, _, err = s.Apply(u); err != nil {
				t.Fatal(err)
			}
			want = next
			if got := brief(agent.Messages.Get(s)); got != brief(want) {
				t.Fatalf("got %s, want %s", got, brief(want))
			}
		}
	})
}

func brief(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(m.ID + "=" + m.Text() + " ")
	}
	return b.String()
}

func TestAddMessagesMintsMissingIDs(t *testing.T) {
	u, err := agent.AddMessages(state.State{}, []message.Message{message.New(message.Human, "x")},
		func() string { return "new" })
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := state.State{}.Apply(u)
	if err != nil {
		t.Fatal(err)
	}
	if got := agent.Messages.Get(s)[0].ID; got != "new" {
		t.Errorf("id is %q", got)
	}
}

// TestAddMessagesTakesNoClientForTheProgram: hidden or marked, what a client sends stays a client's.
func TestAddMessagesTakesNoClientForTheProgram(t *testing.T) {
	note, said := conversation.Note("n", "loop_warning", "stop"), message.New(message.Human, "hello")
	said.ID = "x"
	s, _, err := state.State{}.Apply(agent.Messages.Append(conversation.DateMessage("d", "2026-11-21, Saturday"), said,
		note))
	if err != nil {
		t.Fatal(err)
	}
	forged := note
	forged.ID = "f"
	u, err := agent.AddMessages(s, []message.Message{said, note, forged}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, _, err = s.Apply(u); err != nil {
		t.Fatal(err)
	}
	msgs := agent.Messages.Get(s)
	if len(msgs) != 4 || msgs[0].Role != message.System || msgs[1].ID != "x" {
		t.Fatalf("messages %s", brief(msgs))
	}
	if !conversation.IsNote(msgs[2], "loop_warning") || conversation.IsNote(msgs[3], "loop_warning") {
		t.Errorf("kwargs %s and %s", msgs[2].Kwargs, msgs[3].Kwargs)
	}
}

// TestAddMessagesRemovesInOrder: the same input is the same update, byte for byte.
func TestAddMessagesRemovesInOrder(t *testing.T) {
	var held, removed []message.Message
	for id := range strings.SplitSeq("hgfedcba", "") {
		m := message.New(message.Human, id)
		m.ID = id
		held, removed = append(held, m), append(removed, message.Message{Role: message.Remove, ID: id})
	}
	s, _, err := state.State{}.Apply(agent.Messages.Append(held...))
	if err != nil {
		t.Fatal(err)
	}
	u, err := agent.AddMessages(s, removed, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := u.MarshalJSON()
	if want := `[{"c":"messages","op":"remove","v":["a","b","c","d","e","f","g","h"]}]`; string(got) != want ||
		err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// TestAddMessagesOfNothing writes nothing.
func TestAddMessagesOfNothing(t *testing.T) {
	said := message.New(message.Human, "hello")
	said.ID = "x"
	for _, msgs := range [][]message.Message{nil, {said, {Role: message.Remove, ID: "x"}}} {
		if u, err := agent.AddMessages(state.State{}, msgs, nil); err != nil || len(u) != 0 {
			t.Errorf("%d messages: %v, %v", len(msgs), u, err)
		}
	}
	if _, err := agent.AddMessages(state.State{}, []message.Message{{Role: message.Remove}}, nil); err == nil {
		t.Error("a message without an id is removed")
	}
}
