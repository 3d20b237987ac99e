package terminalresponse

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

func chain() []agent.Middleware { return []agent.Middleware{New()} }

func failed(m message.Message) bool { return string(m.Kwargs[message.KeyErrorFallback]) == "true" }

// blankAnswers are answers with nothing in them, by how they come about.
func blankAnswers() map[string][]message.Chunk {
	return map[string][]message.Chunk{
		"nothing at all":       {{FinishReason: "stop"}},
		"white space":          agenttest.Say(" \n"),
		"only reasoning":       {{Reasoning: "hm"}, {FinishReason: "stop"}},
		"the length used up":   {{Reasoning: "hm"}, {FinishReason: "length"}},
		"tool calls announced": {{FinishReason: "tool_calls"}},
		"a raw copy of a call": {{Kwargs: message.Fields{"tool_calls": json.RawMessage(`[{"id":"a"}]`)}},
			{FinishReason: "stop"}},
	}
}

// TestRow32ABlankAnswerAfterToolsIsAskedAgain: the blank message goes, a stored hidden note comes, and the second
// answer is the run's.
func TestRow32ABlankAnswerAfterToolsIsAskedAgain(t *testing.T) {
	for name, blank := range blankAnswers() {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agent.Config{Tools: agenttest.Tools("look")}, chain(), agenttest.Calls("look", `{}`),
				blank, agenttest.Say("found it"))
			msgs := b.Run(t, "go")
			if len(msgs) != 5 || !conversation.IsNote(msgs[3], "terminal_response_recovery") ||
				msgs[4].Text() != "found it" || failed(msgs[4]) {
				t.Fatalf("%q", agenttest.Talk(msgs))
			}
			b.Run(t, "thanks")
			b.CheckGrowth(t)
		})
	}
}

// TestObserved32ABlankAnswerWithoutToolsIsAskedAgain: also when the very first answer is blank.
func TestObserved32ABlankAnswerWithoutToolsIsAskedAgain(t *testing.T) {
	for name, blank := range blankAnswers() {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agent.Config{}, chain(), blank, agenttest.Say("hello"))
			msgs := b.Run(t, "hi")
			if len(msgs) != 3 || msgs[2].Text() != "hello" {
				t.Fatalf("%q", agenttest.Talk(msgs))
			}
			short := strings.Contains(msgs[1].Text(), "length limit")
			if short != (name == "the length used up") {
				t.Errorf("the note says %q", msgs[1].Text())
			}
			b.CheckGrowth(t)
		})
	}
}

// TestPitfall9ABlankAnswerIsRetriedOncePerRun: then a visible fallback text ends the run as failed; the next run may
// try again.
func TestPitfall9ABlankAnswerIsRetriedOncePerRun(t *testing.T) {
	for name, blank := range blankAnswers() {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agent.Config{Tools: agenttest.Tools("look")}, chain(), agenttest.Calls("look", `{}`),
				blank, blank, blank, agenttest.Say("back"))
			msgs := b.Run(t, "go")
			last := msgs[len(msgs)-1]
			if len(b.Model.Requests) != 3 || !failed(last) || !strings.Contains(last.Text(), "no answer") ||
				last.AsksForTools() {
				t.Fatalf("%d requests, %q", len(b.Model.Requests), agenttest.Talk(msgs))
			}
			if last.ID == "" || slices.ContainsFunc(msgs[:len(msgs)-1],
				func(m message.Message) bool { return m.ID == last.ID }) {
				t.Errorf("the fallback has the id %q", last.ID)
			}
			msgs = b.Run(t, "and now?")
			if got := msgs[len(msgs)-1].Text(); got != "back" || len(b.Model.Requests) != 5 {
				t.Errorf("the second run ends with %q after %d requests", got, len(b.Model.Requests))
			}
		})
	}
}

// TestToolsAfterARecovery: a run that was asked again and went on working is not asked a second time.
func TestToolsAfterARecovery(t *testing.T) {
	blank := []message.Chunk{{FinishReason: "stop"}}
	b := agenttest.New(t, agent.Config{Tools: agenttest.Tools("look")}, chain(), blank, agenttest.Calls("look", `{}`),
		blank)
	msgs := b.Run(t, "go")
	if last := msgs[len(msgs)-1]; len(b.Model.Requests) != 3 || !failed(last) {
		t.Errorf("%d requests, %q", len(b.Model.Requests), agenttest.Talk(msgs))
	}
	b.CheckGrowth(t)
}

// TestAnswersThatAreNotBlank are left as they are.
func TestAnswersThatAreNotBlank(t *testing.T) {
	look := &agenttest.Tool{Name: "look"}
	b := agenttest.New(t, agent.Config{Tools: []tool.Tool{look}}, chain(), agenttest.Calls("look", `{}`),
		agenttest.Calls("look", `{"x":`), agenttest.Ends("length", "half"))
	msgs := b.Run(t, "go")
	want := []string{"human: go", "ai: ", "tool look: ok", "ai: ", agenttest.Talk(msgs)[4], "ai: half"}
	if diff := cmp.Diff(want, agenttest.Talk(msgs)); diff != "" {
		t.Error(diff)
	}
	picture := message.Message{Role: message.AI,
		Content: []message.Part{{Type: message.PartImage, URL: "https://x/y.png"}}}
	if isBlank(&picture) {
		t.Error("a picture is no blank answer")
	}
}

// TestAStoppedRunStillAnswers: the last answer of a run at its limit is the loop's business.
func TestAStoppedRunStillAnswers(t *testing.T) {
	b := agenttest.New(t, agent.Config{Tools: agenttest.Tools("look")}, chain(), agenttest.Calls("look", `{}`),
		[]message.Chunk{{FinishReason: "stop"}})
	b.Config.MaxSteps = 1
	msgs := b.Run(t, "go")
	if last := msgs[len(msgs)-1]; last.Text() == "" || b.Reason() != agent.ReasonTurns || len(b.Model.Requests) != 2 {
		t.Errorf("%q, reason %q", agenttest.Talk(msgs), b.Reason())
	}
}

// TestWhatWasShownIsTakenBack: who watches gets an end for every message that began, and the state has no blank one.
func TestWhatWasShownIsTakenBack(t *testing.T) {
	b := agenttest.New(t, agent.Config{}, chain(), blankAnswers()["only reasoning"], agenttest.Say("hello"))
	b.Run(t, "hi")
	began, ended := map[string]bool{}, map[string]bool{}
	for _, d := range b.Events {
		switch d := d.(type) {
		case event.Chunk:
			began[d.MessageID] = true
		case event.Message:
			ended[d.MessageID] = true
		case event.Discard:
			ended[d.MessageID] = true
		}
	}
	if diff := cmp.Diff(began, ended); diff != "" || len(began) != 2 {
		t.Errorf("%d messages began\n%s", len(began), diff)
	}
}
