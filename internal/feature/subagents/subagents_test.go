package subagents_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/message"
)

func kind(t *testing.T, cfg *config.Config, name string) subagents.Kind {
	t.Helper()
	k, err := subagents.Find(subagents.Kinds(cfg, true), name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKinds(t *testing.T) {
	cfg := config.Default()
	cfg.Models = []config.Model{{Name: "small"}}
	s := &cfg.Subagents
	s.Custom = map[string]config.CustomSubagent{
		"z": {Description: "Z.", System: "You are z. "},
		"a": {Description: "A.", System: "a", Tools: []string{"ls", "task"}, Disallowed: []string{}, Model: "small",
			MaxTurns: 3, Timeout: time.Second, Skills: []string{"x"}},
	}
	s.Agents = map[string]config.SubagentChange{"z": {Model: "gone"},
		"bash": {MaxTurns: 9, Timeout: time.Minute, Model: "small", Skills: []string{}}}
	names := func(commands bool) (list []string) {
		for _, k := range subagents.Kinds(cfg, commands) {
			list = append(list, k.Name)
		}
		return list
	}
	if d := cmp.Diff([]string{"general-purpose", "bash", "a", "z"}, names(true)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"general-purpose", "a", "z"}, names(false)); d != "" {
		t.Error("without commands:", d)
	}
	if _, err := subagents.Find(subagents.Kinds(cfg, false), "bash"); err == nil ||
		err.Error() != "Unknown subagent type 'bash'. Available: general-purpose, a, z" {
		t.Error(err)
	}
	g, b, a, z := kind(t, cfg, "general-purpose"), kind(t, cfg, "bash"), kind(t, cfg, "a"), kind(t, cfg, "z")
	if g.MaxTurns != 150 || g.Timeout != 30*time.Minute || g.Model != "" || !g.Budget.Enabled {
		t.Errorf("%+v", g)
	}
	if b.MaxTurns != 9 || b.Timeout != time.Minute || b.Model != "small" || b.Skills == nil {
		t.Errorf("%+v", b)
	}
	if a.MaxTurns != 3 || a.Timeout != time.Second || a.Model != "small" || z.MaxTurns != 50 ||
		z.Timeout != 15*time.Minute || z.Model != "" || z.Prompt != "You are z." {
		t.Errorf("%+v %+v", a, z)
	}
	s.MaxTurns = 70
	if g := kind(t, cfg, "general-purpose"); g.MaxTurns != 70 {
		t.Errorf("%d turns", g.MaxTurns)
	}
	for _, tt := range []struct {
		k    subagents.Kind
		tool string
		want bool
	}{
		{g, "bash", true}, {g, "task", true}, {g, "present_files", false}, {g, "list_uploaded_files", false},
		{g, "ask_clarification", false}, {g, "update_agent", false}, {b, "bash", true}, {b, "grep", false},
		{b, "task", false}, {a, "ls", true}, {a, "task", true}, {a, "bash", false}, {a, "ask_clarification", false},
		{z, "bash", true}, {z, "task", false}, {z, "present_files", false}, {z, "setup_agent", false},
	} {
		if got := tt.k.Has(tt.tool); got != tt.want {
			t.Errorf("%s has %s: %v", tt.k.Name, tt.tool, got)
		}
	}
}

func TestOutcomeOf(t *testing.T) {
	for name, tt := range map[string]struct {
		end    event.Run
		answer string
		want   subagents.Outcome
	}{
		"done": {event.Run{Status: "success"}, " yes\n",
			subagents.Outcome{Status: "completed", Result: "yes"}},
		"capped": {event.Run{Status: "success", StopReason: "token_capped"}, "so far",
			subagents.Outcome{Status: "completed", Result: "so far", StopReason: "token_capped"}},
		"another cap": {event.Run{Status: "success", StopReason: "model_length_capped"}, "so",
			subagents.Outcome{Status: "completed", Result: "so"}},
		"nothing said": {event.Run{Status: "success", StopReason: "turn_capped"}, " ",
			subagents.Outcome{Status: "failed", StopReason: "turn_capped",
				Error: "The sub-agent came to its end without an answer."}},
		"failed": {event.Run{Status: "error", Error: "down"}, "half",
			subagents.Outcome{Status: "failed", Error: "down"}},
		"failed, no word": {event.Run{Status: "error"}, "half",
			subagents.Outcome{Status: "failed", Error: "The sub-agent failed."}},
		"stopped": {event.Run{Status: "interrupted", StopReason: "cancelled"}, "half",
			subagents.Outcome{Status: "cancelled", Error: "The task was stopped."}},
	} {
		if d := cmp.Diff(tt.want, subagents.OutcomeOf(tt.end, tt.answer)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if o := subagents.OutcomeOf(event.Run{Status: "interrupted"}, ""); o.Status != "failed" ||
		!strings.Contains(o.Error, "ask") {
		t.Errorf("%+v", o)
	}
}

func TestAnswer(t *testing.T) {
	tool := message.New(message.Tool, "result")
	for want, msgs := range map[string][]message.Message{
		"":    {message.New(message.Human, "do")},
		"one": {message.New(message.AI, "one"), tool, message.New(message.AI, " ")},
		"two": {message.New(message.AI, "one"), tool, message.New(message.AI, "two "), tool},
	} {
		if got := subagents.Answer(msgs); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLongResultIsBriefBesideItself.
func TestLongResultIsBriefBesideItself(t *testing.T) {
	o := subagents.Outcome{Status: "completed", Result: strings.Repeat("é", 3000)}
	res := o.Tool()
	if n := strings.Count(string(res.Kwargs["subagent_result_brief"]), "é"); n != 2000 ||
		!strings.HasSuffix(res.Text(), o.Result) || len(res.Summary) > 300 {
		t.Errorf("%d characters, summary %q", n, res.Summary)
	}
}
