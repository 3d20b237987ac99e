package probe

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

func TestThePrefixIsLongEnoughForEveryCache(t *testing.T) {
	if n := tokens.Text(longPrefix()); n < 4600 || n > 6500 {
		t.Errorf("%d tokens", n)
	}
	if first, second := longPrefix(), longPrefix(); first != second {
		t.Error("it changes")
	}
}

func TestTheSchemasOfAllToolsCanBeRead(t *testing.T) {
	for _, raw := range []json.RawMessage{json.RawMessage(tripSchema), weather().Parameters, submit().Parameters,
		orderTools()[0].Parameters, orderTools()[1].Parameters} {
		if _, err := tool.ParseSchema(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestSees(t *testing.T) {
	for text, want := range map[string]bool{
		"green red": true, "The left half is **green**, the right one is **red**.": true, "GREEN, RED": true,
		"red green": false, "green": false, "red": false, "": false, "green, red or blue": false, "yellow, red": false,
	} {
		if sees(text) != want {
			t.Errorf("%q", text)
		}
	}
	if got := look(picture()); got != "green, red" {
		t.Errorf("the picture shows %s", got)
	}
}

func TestACallInATextIsRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		`<tool_call>{"name":"f","arguments":{}}</tool_call>`: true,
		`<function=f><parameter=a>1</parameter></function>`:  true,
		`[TOOL_CALLS][{"name":"f"}]`:                         true,
		"I would call f now.":                                false,
		`{"a":1}`:                                            false,
	} {
		if writtenAsText(strings.ReplaceAll(text, "f", "get_weather"), "get_weather") != want &&
			strings.Contains(text, "f") {
			t.Errorf("%q", text)
		}
	}
}

func TestThoughtsAreSeenInAnyForm(t *testing.T) {
	part := func(p message.Part) answer {
		p.Type = message.PartReasoning
		return answer{Message: message.Message{Content: []message.Part{p}}}
	}
	for name, a := range map[string]answer{
		"text":     part(message.Part{Text: "hm"}),
		"redacted": part(message.Part{Redacted: "x"}),
		"tokens":   {Message: message.Message{Usage: &message.Usage{Reasoning: 5}}},
	} {
		if !thought(&a) {
			t.Error(name)
		}
	}
	if a := (answer{Message: message.New(message.AI, "x")}); thought(&a) {
		t.Error("text is no thought")
	}
}

func TestVerdictFollowsTheTable(t *testing.T) {
	all := func(changes ...Result) []Result {
		var out []Result
		for _, task := range tasks() {
			r := Result{Task: task.name, Outcome: Pass}
			for _, c := range changes {
				if c.Task == task.name {
					r = c
				}
			}
			out = append(out, r)
		}
		return out
	}
	failed := func(task string) Result { return Result{Task: task, Outcome: Fail, Detail: "x"} }
	for _, c := range []struct {
		name    string
		results []Result
		window  int
		want    string
	}{
		{"all", all(), 0, "good as an agent"},
		{"a large window", all(), 200000, "good as an agent"},
		{"cached tokens", all(Result{Task: "cache", Outcome: Fail, Minor: true}), 0,
			"good as an agent, but dear where tokens cost money, as no cache hits are reported"},
		{"not applicable", all(Result{Task: "image", Outcome: NotApplicable}), 0, "good as an agent"},
		{"an important task", all(failed("parallel")), 0, "works, but parallel: x"},
		{"two important tasks", all(failed("parallel"), failed("schema")), 0, "works, but parallel: x; schema: x"},
		{"a tight window", all(), 16383, "works, but its window of 16383 tokens is soon full"},
		{"an essential task", all(failed("results"), failed("parallel")), 0, "too weak to be an agent: results: x"},
		{"both of the arguments", all(failed("schema"), failed("arguments")), 0,
			"too weak to be an agent: schema: x; arguments: x"},
		{"a small window", all(), 8191,
			"too weak to be an agent: its window of 8191 tokens has no room for instructions, tools and a task"},
		{"no answer", all(failed("schema"), Result{Task: "tool", Outcome: Fail, NoAnswer: true, Detail: "busy"}), 0,
			"no verdict: no answer came: busy"},
		{"no answer to what is not essential",
			all(Result{Task: "parallel", Outcome: Fail, NoAnswer: true, Detail: "busy"}), 0,
			"works, but parallel: busy"},
		{"ended early", all(Result{Task: "results", Outcome: NotApplicable}), 0,
			"no verdict: the probe ended before the task results"},
	} {
		r := Report{}
		r.Verdict, r.Why = judge(c.results, c.window)
		if got := r.Sentence(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
