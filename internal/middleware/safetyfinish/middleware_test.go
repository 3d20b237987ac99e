package safetyfinish

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// stopped is an answer of a provider that stopped it: its text and calls.
func stopped(reason, text string, pairs ...string) []message.Chunk {
	chunks := agenttest.Calls(pairs...)
	chunks[0].Text = text
	chunks[1].FinishReason = reason
	return chunks
}

func newest(msgs []message.Message) message.Message { return msgs[len(msgs)-1] }

func customs(t *testing.T, b *agenttest.Thread) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, d := range b.Events {
		if c, ok := d.(event.Custom); ok {
			var v map[string]any
			if err := json.Unmarshal(c.Value, &v); err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
	}
	return all
}

// TestRow34SafetyStripsCalls: nothing of what a stopped answer asks for runs, and everybody is told.
func TestRow34SafetyStripsCalls(t *testing.T) {
	save := &agenttest.Tool{Name: "save"}
	b := agenttest.New(t, agent.Config{Tools: []tool.Tool{save}}, []agent.Middleware{New(Config{})},
		stopped("content_filter", "I will save it.\n", "save", `{"x":"a"}`, "save", `{"x":"b`))
	msgs := b.Run(t, "go")
	m := newest(msgs)
	if save.Ran() != 0 || len(msgs) != 2 || m.AsksForTools() {
		t.Fatalf("ran %d times, %q", save.Ran(), agenttest.Talk(msgs))
	}
	if text := m.Text(); !strings.HasPrefix(text, "I will save it.\n\nThe model's provider stopped") ||
		!strings.Contains(text, "were not run") {
		t.Errorf("text %q", text)
	}
	if m.FinishReason() != "content_filter" || b.Reason() != Reason || len(b.Model.Requests) != 1 {
		t.Errorf("finish %q, reason %q, %d requests", m.FinishReason(), b.Reason(), len(b.Model.Requests))
	}
	want := map[string]any{
		"type": "safety_termination", "thread_id": "t", "detector": "openai_compatible_content_filter",
		"reason_field": "finish_reason", "reason_value": "content_filter", "suppressed_tool_call_count": 2.0,
		"suppressed_tool_call_names": []any{"save", "save"},
	}
	if diff := cmp.Diff([]map[string]any{want}, customs(t, b)); diff != "" {
		t.Error(diff)
	}
	var mark map[string]any
	if err := json.Unmarshal(m.Kwargs["safety_termination"], &mark); err != nil ||
		mark["reason_value"] != "content_filter" || mark["type"] != nil {
		t.Errorf("kwargs %s", m.Kwargs["safety_termination"])
	}
	b.Run(t, "something else")
	b.CheckGrowth(t)
	if b.Reason() != "" {
		t.Errorf("the next run ends with %q", b.Reason())
	}
}

// TestPitfall8ABlankFilteredAnswerGetsText: an empty message would poison every later request of the thread.
func TestPitfall8ABlankFilteredAnswerGetsText(t *testing.T) {
	for _, reason := range []string{"content_filter", "refusal", "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"RECITATION", "IMAGE_SAFETY", "safety"} {
		b := agenttest.New(t, agent.Config{}, []agent.Middleware{New(Config{})}, stopped(reason, " "))
		m := newest(b.Run(t, "go"))
		if !strings.Contains(m.Text(), reason) || strings.Contains(m.Text(), "tool calls") || b.Reason() != Reason ||
			len(customs(t, b)) != 1 {
			t.Errorf("%s: text %q, reason %q, %d events", reason, m.Text(), b.Reason(), len(customs(t, b)))
		}
		b.Run(t, "and now?")
		b.CheckGrowth(t)
	}
}

// TestPitfall6RawCopiesOfCallsAreRemoved: else the provider would see the calls again.
func TestPitfall6RawCopiesOfCallsAreRemoved(t *testing.T) {
	for key, raw := range map[string]string{
		"tool_calls":    `[{"id":"a","function":{"name":"save","arguments":"{}"}}]`,
		"function_call": `{"name":"save","arguments":"{}"}`,
	} {
		answer := stopped("refusal", "No.")
		answer[0].Kwargs = message.Fields{key: json.RawMessage(raw), "kept": json.RawMessage(`1`)}
		b := agenttest.New(t, agent.Config{}, []agent.Middleware{New(Config{})}, answer)
		m := newest(b.Run(t, "go"))
		if m.Kwargs[key] != nil || m.Kwargs["kept"] == nil || b.Reason() != Reason {
			t.Errorf("%s: kwargs %v, reason %q", key, m.Kwargs, b.Reason())
		}
		got := customs(t, b)
		if len(got) != 1 || got[0]["detector"] != "anthropic_refusal" ||
			!cmp.Equal(got[0]["suppressed_tool_call_names"], []any{"save"}) {
			t.Errorf("%s: event %v", key, got)
		}
	}
}

// TestObserved34TextAloneStays: with words and without calls there is nothing to do, nor for answers that nobody
// stopped.
func TestObserved34TextAloneStays(t *testing.T) {
	for name, answer := range map[string][]message.Chunk{
		"text that was stopped": stopped("content_filter", "I cannot say"),
		"an ordinary answer":    stopped("stop", "Fine."),
		"no reason":             {{Text: "Fine."}},
	} {
		b := agenttest.New(t, agent.Config{}, []agent.Middleware{New(Config{})}, answer)
		m := newest(b.Run(t, "go"))
		if m.Text() != answer[0].Text || m.Kwargs[Key] != nil || b.Reason() != "" || len(customs(t, b)) != 0 {
			t.Errorf("%s: %q, reason %q", name, m.Text(), b.Reason())
		}
	}
}

// TestOrdinaryCallsRun: calls without a safety reason are none of its business.
func TestOrdinaryCallsRun(t *testing.T) {
	save := &agenttest.Tool{Name: "save"}
	b := agenttest.New(t, agent.Config{Tools: []tool.Tool{save}}, []agent.Middleware{New(Config{})},
		agenttest.Calls("save", `{}`))
	b.Run(t, "go")
	if save.Ran() != 1 || b.Reason() != "" {
		t.Errorf("ran %d times, reason %q", save.Ran(), b.Reason())
	}
}

func TestDetectors(t *testing.T) {
	for _, c := range []struct {
		name      string
		detectors []Detector
		reason    string
		want      string
	}{
		{"all of them", builtIn(), "IMAGE_PROHIBITED_CONTENT", "gemini_safety"},
		{"only one", []Detector{{Kind: "gemini"}}, "content_filter", ""},
		{"its own reasons", []Detector{{Kind: "openai", Reasons: []string{"blocked*"}}}, "BLOCKED_BY_POLICY",
			"openai_compatible_content_filter"},
		{"its own reasons instead", []Detector{{Kind: "openai", Reasons: []string{"blocked"}}}, "content_filter", ""},
		{"another kind", []Detector{{Kind: "mine", Reasons: []string{"no"}}}, "no", "mine"},
		{"an unknown kind", []Detector{{Kind: "mine"}}, "no", ""},
		{"no reason", builtIn(), "", ""},
	} {
		for _, field := range []string{"finish_reason", "stop_reason"} {
			raw, _ := json.Marshal(c.reason)
			m := message.Message{ResponseMetadata: message.Fields{field: raw}}
			got, ok := find(c.detectors, &m)
			if got.detector != c.want || ok != (c.want != "") || ok && (got.field != field || got.value != c.reason) {
				t.Errorf("%s in %s: %+v", c.name, field, got)
			}
		}
	}
}
