package summarization

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// TestAnyConversationWithAnyThresholds: through the real loop every request is valid, fits into the window, holds what
// the user said last, and continues the one before unless there was a compaction; the thread keeps every message.
func TestAnyConversationWithAnyThresholds(t *testing.T) {
	outer := t
	amount := rapid.Custom(func(t *rapid.T) Amount {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return Amount{Tokens: rapid.IntRange(1, 20_000).Draw(t, "tokens")}
		case 1:
			return Amount{Messages: rapid.IntRange(1, 40).Draw(t, "messages")}
		case 2:
			return Amount{Fraction: rapid.Float64Range(0.01, 1).Draw(t, "fraction")}
		}
		return Amount{}
	})
	rapid.Check(t, func(t *rapid.T) {
		p := &provider{
			window:  rapid.SampledFrom([]int{0, 6000, 8192, 20_000}).Draw(t, "window"),
			density: rapid.Float64Range(3.6, 6).Draw(t, "density"),
			mute:    rapid.Bool().Draw(t, "mute"),
		}
		flaky := rapid.SampledFrom([]string{"", "", "fails", "blank"}).Draw(t, "summarizer")
		p.summary = func(n int, _ *model.Request) (string, error) {
			if n%2 == 0 && flaky == "fails" {
				return "", errors.New("down")
			}
			if n%2 == 0 && flaky == "blank" {
				return " ", nil
			}
			return words("summary", 300*(n%7)), nil
		}
		size := rapid.SampledFrom([]int{1, 20, 300, 3000, 5000, 30_000})
		turns := rapid.IntRange(1, 4).Draw(t, "turns")
		var script []message.Chunk
		for range turns {
			for range rapid.IntRange(0, 6).Draw(t, "steps") {
				script = append(script, dumps(len(script), rapid.SliceOfN(size, 1, 3).Draw(t, "sizes")...))
			}
			script = append(script, says(words("answer", size.Draw(t, "answer")/10)))
		}
		p.answer = func(n int) message.Chunk { return script[n] }
		b := newBed(outer, p, Config{
			Window: p.window, Trigger: amount.Draw(t, "trigger"), Keep: amount.Draw(t, "keep"),
			TrimTokens: rapid.SampledFrom([]int{0, 1000, 4000}).Draw(t, "trim"),
		})
		at := 0
		for turn := range turns {
			request := fmt.Sprintf("REQUEST %d", turn)
			if err := b.say(request + " " + words("more", size.Draw(t, "request"))); err != nil {
				t.Fatalf("turn %d: %v", turn, err)
			}
			for ; at < len(p.asked); at++ {
				msgs := p.asked[at].Messages
				if problem := invalid(msgs); problem != "" {
					t.Fatalf("request %d: %s: %s", at, problem, shape(msgs))
				}
				if !strings.HasPrefix(userText(msgs), request) {
					t.Fatalf("request %d does not hold %q: %s", at, request, shape(msgs))
				}
			}
			c, all := b.compaction(), agent.Messages.Get(b.state)
			again := compaction.Project(&c, all, compaction.Project(&c, all, all))
			if !continues(again, compaction.Project(&c, all, all)) {
				t.Fatal("a projection of a projection is another one")
			}
		}
		if breaks := b.check(); breaks > b.compaction().Number {
			t.Fatalf("%d breaks with %d compactions", breaks, b.compaction().Number)
		}
		if want := turns + len(script) + results(script); len(agent.Messages.Get(b.state)) != want {
			t.Fatalf("the thread has %d messages, want %d", len(agent.Messages.Get(b.state)), want)
		}
		if p.refused > 0 && p.window > 0 {
			t.Fatalf("%d requests were too long", p.refused)
		}
	})
}

func results(script []message.Chunk) (n int) {
	for _, c := range script {
		n += len(c.ToolCalls)
	}
	return n
}

// TestCutsPartNoPairs on conversations of any shape, also broken ones.
func TestCutsPartNoPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var msgs []message.Message
		id := rapid.SampledFrom([]string{"a", "b", "c"})
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			m := message.New(rapid.SampledFrom([]message.Role{message.Human, message.AI, message.Tool}).Draw(t, "role"),
				"x")
			m.ID = fmt.Sprint(i)
			switch m.Role {
			case message.AI:
				for range rapid.IntRange(0, 2).Draw(t, "calls") {
					m.ToolCalls = append(m.ToolCalls, message.ToolCall{ID: id.Draw(t, "id")})
				}
			case message.Tool:
				m.ToolCallID = id.Draw(t, "id")
			}
			msgs = append(msgs, m)
		}
		for i, ok := range cuts(msgs) {
			if want := clean(msgs, i); ok != want {
				t.Fatalf("cut at %d of %s: %v, want %v", i, shape(msgs), ok, want)
			}
		}
	})
}

// clean says in the plainest words whether a cut parts nothing.
func clean(msgs []message.Message, cut int) bool {
	for j := cut; j < len(msgs); j++ {
		if msgs[j].Role != message.Tool {
			continue
		}
		if j == cut {
			return false
		}
		for i := j - 1; i >= 0; i-- {
			has := false
			for _, c := range msgs[i].ToolCalls {
				has = has || c.ID == msgs[j].ToolCallID
			}
			if has && i < cut {
				return false
			}
			if has {
				break
			}
		}
	}
	return true
}
