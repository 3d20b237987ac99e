package conversation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/message"
)

// loud drops messages without text and shouts the others; calls counts what it was asked.
func loud(calls *int) func([]message.Message, *message.Message) []message.Message {
	return func(out []message.Message, m *message.Message) []message.Message {
		*calls++
		if m.Text() == "" {
			return out
		}
		changed := *m
		changed.Content = []message.Part{message.Text(m.Text() + "!")}
		return append(out, changed)
	}
}

// TestMemoIsOnlyACache: whatever conversations come, in whatever order, each is turned into what it is turned into
// alone.
func TestMemoIsOnlyACache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var memo Memo
		var calls int
		msgs := []message.Message{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				msgs = append(msgs, message.New(message.Human, rapid.SampledFrom([]string{"", "a", "b"}).
					Draw(t, "text")))
			case 2: // another conversation with the same beginning
				msgs = slices.Clone(msgs[:rapid.IntRange(0, len(msgs)).Draw(t, "kept")])
			case 3:
				if len(msgs) > 0 {
					msgs = slices.Clone(msgs)
					msgs[rapid.IntRange(0, len(msgs)-1).Draw(t, "at")] = message.New(message.Human, "other")
				}
			}
			got, want := memo.Map(msgs, loud(&calls)), []message.Message{}
			for i := range msgs {
				want = loud(new(int))(want, &msgs[i])
			}
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("(-want +got)\n%s", d)
			}
		}
	})
}

func TestMemoDoesWhatIsNewAlone(t *testing.T) {
	var memo Memo
	var calls int
	msgs := []message.Message{message.New(message.Human, "a"), message.New(message.Human, "b")}
	first := memo.Map(msgs, loud(&calls))
	grown := append(slices.Clone(msgs), message.New(message.Human, "c"))
	second := memo.Map(grown, loud(&calls))
	if calls != 3 {
		t.Errorf("%d messages were looked at, want 3", calls)
	}
	if len(first) != 2 || len(second) != 3 || second[2].Text() != "c!" {
		t.Errorf("got %v, then %v", first, second)
	}
	_ = append(first, message.New(message.Human, "mine")) // it must not reach the memo
	if second[2].Text() != "c!" {
		t.Error("what somebody appended to a result has come into another")
	}
}

func TestCheckedKnowsWhatHasPassed(t *testing.T) {
	var c Checked
	msgs := make([]message.Message, 2, 4)
	if n := c.From(msgs); n != 0 {
		t.Errorf("%d have passed before any did", n)
	}
	c.Pass(msgs)
	for _, at := range []struct {
		name string
		msgs []message.Message
		want int
	}{
		{"the same", msgs, 2}, {"grown in place", append(msgs, message.Message{}), 2}, {"shorter", msgs[:1], 0},
		{"another", slices.Clone(msgs), 0}, {"none", nil, 0},
	} {
		if n := c.From(at.msgs); n != at.want {
			t.Errorf("%s: %d have passed, want %d", at.name, n, at.want)
		}
	}
}
