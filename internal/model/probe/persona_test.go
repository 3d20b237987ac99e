package probe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/model"
)

// everything is what the configuration of a perfect model declares.
var everything = Declared{Vision: true, Thinking: true}

// deviations are the results that are not a pass, "task outcome", and the options, "key: value".
func deviations(r Report) (results, options []string) {
	for _, x := range r.Results {
		if x.Outcome != Pass {
			results = append(results, x.Task+" "+string(x.Outcome))
		}
	}
	for _, o := range r.Options {
		options = append(options, o.Key+": "+string(o.Value))
	}
	return results, options
}

func TestPersonalities(t *testing.T) {
	mute := func(_ *asked, r *reply) { r.reasoning = "" }
	blind := func(a *asked, r *reply) {
		if a.picture != "" {
			*r = reply{status: 400, problem: "This model does not support image input."}
		}
	}
	for _, c := range []struct {
		name     string
		persona  persona
		whole    bool // no streaming
		declared *Declared
		results  []string
		options  []string
		verdict  Verdict
		why      string // a part of it
		advice   string
	}{
		{name: "perfect", verdict: Good},
		{name: "perfect, nothing declared", declared: &Declared{}, verdict: Good,
			options: []string{"supports_vision: true", "supports_thinking: true"}},
		{name: "no parallel calls", persona: func(_ *asked, r *reply) { r.calls = r.calls[:min(1, len(r.calls))] },
			results: []string{"parallel fail"}, verdict: Works, why: "one call at a time"},
		{name: "ignores the schema",
			persona: func(_ *asked, r *reply) { r.change("book_trip", `"BUSINESS"`, `"business class"`) },
			results: []string{"schema fail"}, verdict: Works, why: "class"},
		{name: "numbers as strings", persona: func(_ *asked, r *reply) { r.change("book_trip", `41`, `"41"`) },
			results: []string{"schema fail"}, verdict: Works, why: "Pudu puts right"},
		{name: "understands the schema and not the task",
			persona: func(_ *asked, r *reply) { r.change("book_trip", `41`, `14`) },
			results: []string{"schema fail"}, verdict: Works, why: "14 instead of 41"},
		{name: "no streaming", whole: true, results: []string{"streams fail"}, verdict: Works, why: "1 piece",
			advice: "proxy"},
		{name: "calls in the text", persona: func(_ *asked, r *reply) {
			if len(r.calls) > 0 {
				r.text, r.calls = "I call it: "+r.calls[0].Name+"("+r.calls[0].Args+")", nil
			}
		}, results: []string{"tool fail", "parallel fail", "schema fail", "arguments fail", "results fail"},
			verdict: TooWeak, why: "into its text", advice: "tool-call-parser"},
		{name: "chats instead of calling", persona: func(_ *asked, r *reply) {
			if len(r.calls) > 0 {
				r.text, r.calls = "Sure, I would be glad to.", nil
			}
		}, results: []string{"tool fail", "parallel fail", "schema fail", "arguments fail", "results fail"},
			verdict: TooWeak, why: "did not call the tool"},
		{name: "rejects images, as declared", persona: blind, declared: &Declared{Thinking: true},
			results: []string{"image n/a"}, verdict: Good},
		{name: "rejects images, although declared", persona: blind, results: []string{"image fail"}, verdict: Works,
			options: []string{"supports_vision: false"}},
		{name: "guesses colours", persona: func(a *asked, r *reply) {
			if a.picture != "" {
				r.text = "blue, yellow"
			}
		}, declared: &Declared{Thinking: true}, results: []string{"image n/a"}, verdict: Good},
		{name: "never caches", persona: func(_ *asked, r *reply) { r.cached = 0 }, results: []string{"cache fail"},
			verdict: Good, why: "dear"},
		{name: "no usage", persona: func(_ *asked, r *reply) { r.unmetered = true }, results: []string{"cache fail"},
			verdict: Works, why: "without usage"},
		{name: "ignores tool_choice", persona: func(a *asked, r *reply) {
			if a.noTools {
				*r = reply{calls: []scripted.Call{{ID: "c", Name: "get_weather", Args: "{}"}}}
			}
		}, results: []string{"cache fail"}, verdict: Works, why: "tool_choice is none"},
		{name: "odd stop reason", persona: func(_ *asked, r *reply) { r.finish = "abrupt" },
			results: []string{"cache fail"}, verdict: Works, why: `"abrupt"`},
		{name: "refuses tools", persona: func(a *asked, r *reply) {
			if a.tools {
				*r = reply{status: 400, problem: "m does not support tools"}
			}
		}, results: []string{"tool fail", "parallel fail", "schema fail", "arguments fail", "results fail",
			"thinking fail", "cache fail"},
			verdict: TooWeak, why: "does not support tools"},
		{name: "refuses to think", persona: func(a *asked, r *reply) {
			if a.think != nil && *a.think {
				*r = reply{status: 400, problem: "thinking is not supported by this model"}
			}
		}, results: []string{"thinking fail"}, options: []string{"supports_thinking: false"}, verdict: Works,
			why: "will not think"},
		{name: "breaks Unicode", persona: func(_ *asked, r *reply) { r.change("write_file", "你好", "??") },
			results: []string{"arguments fail"}, verdict: Works, why: "line 100"},
		{name: "leaves lines away",
			persona: func(_ *asked, r *reply) { r.change("write_file", `198: pudu\n199: pudu\n200: pudu`, "...") },
			results: []string{"arguments fail"}, verdict: Works, why: "line 198"},
		{name: "cuts arguments", persona: func(_ *asked, r *reply) {
			r.change("write_file", `120: pudu\n`, "\x00")
			for i := range r.calls {
				r.calls[i].Args, _, _ = strings.Cut(r.calls[i].Args, "\x00")
			}
		}, results: []string{"arguments fail"}, verdict: Works, why: "no JSON object"},
		{name: "bad at schema and arguments", persona: func(_ *asked, r *reply) {
			r.change("write_file", "你好", "??")
			r.change("book_trip", `"BUSINESS"`, `"X"`)
		}, results: []string{"schema fail", "arguments fail"}, verdict: TooWeak},
		{name: "forgets its tools' results", persona: func(a *asked, r *reply) {
			if len(a.results) == 2 {
				r.text = "I do not know."
			}
		}, results: []string{"results fail"}, verdict: TooWeak, why: "I do not know"},
		{name: "calls for ever", persona: func(a *asked, r *reply) {
			if strings.Contains(a.user, "tracking code") {
				*r = reply{calls: []scripted.Call{{ID: fmt.Sprint("c", len(a.results)), Name: "find_order",
					Args: "{}"}}}
			}
		}, results: []string{"results fail"}, verdict: TooWeak, why: "did not answer"},
		{name: "says another word", persona: func(a *asked, r *reply) {
			if strings.Contains(a.user, "one word") {
				r.text = "a deer"
			}
		}, results: []string{"answers fail"}, verdict: TooWeak, why: "a deer"},
		{name: "does not think", persona: mute, declared: &Declared{Vision: true}, results: []string{"thinking n/a"},
			verdict: Good},
		{name: "does not think, although declared", persona: mute, results: []string{"thinking fail"},
			options: []string{"supports_thinking: false"}, verdict: Works},
		{name: "always thinks", persona: func(_ *asked, r *reply) { r.reasoning = "Hm." }, verdict: Good},
		{name: "rejects its own thoughts", persona: func(a *asked, r *reply) {
			if a.echoed {
				*r = reply{status: 400, problem: "reasoning_content is not allowed in input"}
			}
		}, results: []string{"thinking fail"}, verdict: Works, why: "not taken back"},
		{name: "wants no temperature", persona: func(a *asked, r *reply) {
			if a.temperature {
				*r = reply{status: 400, problem: "Unsupported value: 'temperature' does not support 0 with this model."}
			}
		}, verdict: Good},
		{name: "wants another bound", persona: func(a *asked, r *reply) {
			if a.maxTokens > 0 {
				*r = reply{status: 400,
					problem: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}
			}
		}, verdict: Good, advice: "max_completion_tokens"},
		{name: "needs more room", persona: func(a *asked, r *reply) {
			if a.maxTokens <= longRoom {
				*r = reply{reasoning: r.reasoning, finish: "length"}
			}
		}, verdict: Good},
		{name: "small window", declared: &Declared{Vision: true, Thinking: true, Window: 4096}, verdict: TooWeak,
			why: "4096"},
		{name: "tight window", declared: &Declared{Vision: true, Thinking: true, Window: 12000}, verdict: Works,
			why: "12000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &server{stream: !c.whole}
			if c.persona != nil {
				s.personas = []persona{c.persona}
			}
			cfg := Config{Model: compatible(serve(t, s), "deepseek", nil), Declared: everything}
			if c.declared != nil {
				cfg.Declared = *c.declared
			}
			r := Run(t.Context(), cfg)
			results, options := deviations(r)
			if d := cmp.Diff(c.results, results); d != "" {
				t.Errorf("results (-want +got):\n%s\n%+v", d, r.Results)
			}
			if d := cmp.Diff(c.options, options); d != "" {
				t.Errorf("options (-want +got):\n%s", d)
			}
			if r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) {
				t.Errorf("verdict %q: %q, want %q: %q", r.Verdict, r.Why, c.verdict, c.why)
			}
			if got := strings.Join(r.Advice, "\n"); !strings.Contains(got, c.advice) || c.advice == "" && got != "" {
				t.Errorf("advice %q, want %q", got, c.advice)
			}
			if r.Err != nil || len(r.Results) != 10 || r.Calls < 12 {
				t.Errorf("%v, %d results, %d calls", r.Err, len(r.Results), r.Calls)
			}
		})
	}
}

// change replaces a piece of the arguments of a tool's call.
func (r *reply) change(tool, old, text string) {
	for i := range r.calls {
		if r.calls[i].Name == tool {
			r.calls[i].Args = strings.Replace(r.calls[i].Args, old, text, 1)
		}
	}
}

func TestARefusedKeyEndsTheProbe(t *testing.T) {
	s := &server{personas: []persona{func(_ *asked, r *reply) {
		*r = reply{status: 401, problem: "Incorrect API key provided"}
	}}}
	var told []Result
	r := Run(t.Context(), Config{Model: compatible(serve(t, s), "", nil),
		Done: func(r Result) { told = append(told, r) }})
	if e := model.AsError(r.Err); e == nil || e.Class != model.ClassAuth || r.Verdict != NoVerdict || r.Calls != 1 {
		t.Errorf("%v, %q, %d calls", r.Err, r.Verdict, r.Calls)
	}
	if d := cmp.Diff(r.Results, told); d != "" || len(told) != 10 || told[9].Outcome != NotApplicable ||
		told[9].Detail != "not tried" {
		t.Errorf("told %+v", told)
	}
}

func TestASlowModelIsNotWaitedFor(t *testing.T) {
	s := &server{delay: 10 * time.Second}
	r := Run(t.Context(), Config{Model: compatible(serve(t, s), "", nil), Timeout: 50 * time.Millisecond})
	if r.Verdict != NoVerdict || r.Calls != 1 || !strings.Contains(r.Why, "within 0.1 s") {
		t.Errorf("%q, %q, %d calls", r.Verdict, r.Why, r.Calls)
	}
}

// TestTheSwitchOfThinkingIsFound uses a server that thinks unless the chat template is told otherwise, or only if it
// is.
func TestTheSwitchOfThinkingIsFound(t *testing.T) {
	for _, c := range []struct {
		name    string
		persona persona
		want    []string
		tried   int
	}{
		{"off", func(a *asked, r *reply) {
			if !strings.Contains(a.body, `"chat_template_kwargs":{"enable_thinking":false}`) {
				r.reasoning = "Hm."
			}
		}, []string{`when_thinking_disabled: {"extra_body":{"chat_template_kwargs":{"enable_thinking":false}}}`}, 1},
		{"on", func(a *asked, r *reply) {
			if strings.Contains(a.body, `"enable_thinking":true`) && !strings.Contains(a.body, "kwargs") {
				r.reasoning = "Hm."
			}
		}, []string{"supports_thinking: true", `when_thinking_enabled: {"extra_body":{"enable_thinking":true}}`}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, &server{personas: []persona{c.persona}, stream: true})
			tried := 0
			r := Run(t.Context(), Config{
				Model: compatible(url, "generic", nil), Declared: Declared{Vision: true, Thinking: c.name == "off"},
				Variant: func(body json.RawMessage) (model.ChatModel, error) {
					tried++
					var extra map[string]json.RawMessage
					err := json.Unmarshal(body, &extra)
					return compatible(url, "generic", extra), err
				},
			})
			results, options := deviations(r)
			if d := cmp.Diff(c.want, options); d != "" || tried != c.tried ||
				!slices.Equal(results, []string{"thinking fail"}) || r.Verdict != Works {
				t.Errorf("%s\n%d variants, %v, %q", d, tried, results, r.Verdict)
			}
		})
	}
}

func TestAnEffortThatIsRefusedIsTurnedOff(t *testing.T) {
	url := serve(t, &server{stream: true, personas: []persona{func(a *asked, r *reply) {
		if strings.Contains(a.body, "reasoning_effort") {
			*r = reply{status: 400, problem: "Unknown parameter: 'reasoning_effort'"}
		}
	}}})
	declared := everything
	declared.Effort = true
	r := Run(t.Context(), Config{Model: compatible(url, "deepseek", nil), Declared: declared})
	results, options := deviations(r)
	if d := cmp.Diff([]string{"supports_reasoning_effort: false"}, options); d != "" || results != nil {
		t.Errorf("%s %v", d, results)
	}
}

func TestTheWholeProbeCostsLittle(t *testing.T) {
	s := &server{stream: true}
	r := Run(t.Context(), Config{Model: compatible(serve(t, s), "deepseek", nil), Declared: everything})
	sent := 0
	for _, a := range s.reqs {
		sent += len(a.body)
	}
	if r.Calls > 16 || sent > 80<<10 {
		t.Errorf("%d calls, %d bytes sent; update docs/models.md if it is worth it", r.Calls, sent)
	}
	if r.Usage.InputTokens != 5000*r.Calls || r.Usage.OutputTokens != 10*r.Calls {
		t.Errorf("%d calls, %+v", r.Calls, r.Usage)
	}
}

func TestCallsThatShareAnIDAreNoParallelCalls(t *testing.T) {
	m := played(nil, func(_ *asked, r *reply) {
		for i := range r.calls {
			r.calls[i].ID = "same"
		}
	})
	r := Run(t.Context(), Config{Model: m, Declared: everything})
	if results, _ := deviations(r); !slices.Equal(results, []string{"parallel fail"}) ||
		!strings.Contains(r.Why, "3 calls share an id") {
		t.Errorf("%v, %q", results, r.Why)
	}
}
