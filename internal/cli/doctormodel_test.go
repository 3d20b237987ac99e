package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/message"
)

func examined() probe.Examined {
	return probe.Examined{Name: "m", Spent: probe.Spent{Input: 1500, Output: 20}, Remedy: "try \x1b[31mlater",
		Report: probe.Report{
			Model: "p/m", Verdict: probe.Works, Why: "parallel: one \x1b]0;evil\x07call", Calls: 1, Millis: 2500,
			Usage:   message.Usage{InputTokens: 1500},
			Options: []probe.Option{{Key: "supports_vision", Value: json.RawMessage("true"), Why: "it\nsaw"}},
			Advice:  []string{"a\x1b[2J"},
		}}
}

func TestWhatAModelSaysCannotReachTheTerminal(t *testing.T) {
	var b bytes.Buffer
	printResult(&b, style{}, probe.Result{Task: "answers", Outcome: probe.Fail, Detail: "said \x1b[31m\"x\"\ny"})
	printResult(&b, style{}, probe.Result{Task: "cache", Outcome: probe.Fail, Minor: true, Detail: "none"})
	printResult(&b, style{}, probe.Result{Task: "image", Outcome: probe.NotApplicable, Detail: "blind"})
	x := examined()
	printExamined(&b, style{}, &x)
	want := "✗ answers    said \"x\" y\n! cache      none\n– image      blind\n\n" +
		"m: works, but parallel: one call\n→ try later\n→ a\n1 call, 1.5k tokens (1.5k in, 20 out), 2.5 s\n\n" +
		"In its entry of models: in config.yaml I would set:\n    supports_vision: true  # it saw\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnExaminationAsJSON(t *testing.T) {
	var b bytes.Buffer
	if err := printJSON(IO{Out: &b}, examined()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name, Model, Verdict string
		Usage                struct {
			Input int `json:"input_tokens"`
		}
		Options []struct{ Value any }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "m" || got.Model != "p/m" || got.Verdict != "works, but" || got.Usage.Input != 1500 ||
		got.Options[0].Value != true || strings.Contains(b.String(), "\x1b") {
		t.Errorf("%s", &b)
	}
}

func TestJSONIsPrintedAsItIsRead(t *testing.T) {
	var b bytes.Buffer
	if err := printJSON(IO{Out: &b}, json.RawMessage(`{"a": "x \u003cb\u003e \u0026lt; \\u0026 \n"}`)); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"a\": \"x <b> &lt; \\\\u0026 \\n\"\n}\n"; b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}
