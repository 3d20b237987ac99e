package lead_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// ending is a way in which a run comes to its end before the model says so.
type ending struct {
	name string
	// set changes what the run is made of.
	set func(*thread)
	// answers are the model's; sum is the one without tools.
	answers func(n int, req *model.Request) reply
	sum     reply
	// reason is the run's stop_reason, and says part of its last words.
	reason, says string
	// calls is how often the model is asked at most.
	calls int
	// ran is how often the tool "look" runs.
	ran int
}

// endings are all of them. The tool "look" always finds the same, "count" never does, and "task" works for nobody.
func endings() []ending {
	look := calls("look", "{}")
	return []ending{
		{
			name: "loop", answers: script(look), sum: says("I looked in vain"), reason: "loop_capped", says: "in vain",
			calls: 6, ran: 5,
		}, {
			name: "loop, and the last answer is blank", answers: script(look), sum: says(""), reason: "loop_capped",
			says: "limit", calls: 6, ran: 5,
		}, {
			name: "loop, and the last answer calls again", answers: script(look), sum: look, reason: "loop_capped",
			says: "limit", calls: 6, ran: 5,
		}, {
			name: "loop, and the model is down for the last answer", answers: script(look), sum: down(),
			reason: "loop_capped", says: "could not be reached", calls: 8, ran: 5,
		}, {
			name: "tokens", answers: counting(400), sum: says("two counted"), reason: "token_capped", says: "two",
			calls: 4, set: func(th *thread) { th.cfg.Settings.TokenBudget.MaxTokens = 1000 },
		}, {
			name: "money", answers: counting(1_000_000), sum: says("two counted"), reason: "token_capped", says: "two",
			calls: 4, set: func(th *thread) { th.cfg.Settings.TokenBudget.MaxCost = 2.5 },
		}, {
			name: "money, by a model that is not configured", answers: counting(1_000_000), sum: says("two counted"),
			reason: "token_capped", says: "two", calls: 4,
			set: func(th *thread) { th.cfg.Settings.Models, th.cfg.Settings.TokenBudget.MaxCost = nil, 2.5 },
		}, {
			name: "tokens, with calls side by side", sum: says("nothing done"), reason: "token_capped", says: "nothing",
			calls: 2,
			answers: script(calls("look", "{}", "count", "{}", "write_file",
				`{"description":"d","path":"/mnt/user-data/workspace/a","content":"a"}`).costs(2000, 1)),
			set: func(th *thread) { th.cfg.Settings.TokenBudget.MaxTokens = 1000 },
		}, {
			name: "sub-agents", answers: script(calls("task", `{"x":"one"}`)), sum: says("one task is done"),
			reason: "subagent_limit_capped", says: "one task", calls: 5,
			set: func(th *thread) { th.cfg.Options.MaxTotalSubagents = 1 },
		}, {
			name: "steps, before the tools", answers: counting(1), sum: says("so far so good"), reason: "turn_capped",
			says: "so far", calls: 4, set: func(th *thread) { th.max = 5 },
		}, {
			name: "steps, before the model", answers: counting(1), sum: says("so far so good"), reason: "turn_capped",
			says: "so far", calls: 4, set: func(th *thread) { th.max = 6 },
		}, {
			name: "the same invalid call for ever", answers: script(calls("look", "not JSON")),
			sum: says("it does not work"), reason: "loop_capped", says: "not work", calls: 6,
		}, {
			name: "other invalid calls for ever", sum: says("it does not work"), reason: "loop_capped",
			says: "not work", calls: 60,
			answers: func(n int, _ *model.Request) reply { return calls("look", fmt.Sprint("not JSON ", n)) },
		}, {
			name: "calls of tools that are not there", sum: says("it does not work"), reason: "loop_capped",
			says: "not work", calls: 60,
			answers: func(n int, _ *model.Request) reply { return calls(fmt.Sprint("fly", n), "{}") },
		}, {
			name: "calls without a name", answers: script(calls("", "{}")), sum: says("it does not work"),
			reason: "loop_capped", says: "not work", calls: 6,
		}, {
			name: "cut arguments for ever", sum: says("it is too long"), reason: "loop_capped", says: "too long",
			calls: 6, answers: script(calls("look", `{"x":"cut he`).ends("length")),
		}, {
			name: "cut arguments that look whole", sum: says("it is too long"), reason: "loop_capped", says: "too long",
			calls: 6, answers: script(calls("look", "").ends("length")),
		}, {
			name: "cut arguments, then words", answers: script(calls("look", `{"x":"cut he`).ends("length"),
				says("all is said")), says: "all is said", calls: 2,
		}, {
			name: "blank twice after a tool", answers: script(look, says(""), says(" \n")), says: "gave no answer",
			calls: 3, ran: 1,
		}, {
			name: "blank twice without a tool", answers: script(says("")), says: "gave no answer", calls: 2,
		}, {
			name:    "thoughts alone, cut",
			answers: script(reply{chunks: []message.Chunk{{Reasoning: "hm"}, {FinishReason: "length"}}}),
			says:    "gave no answer", calls: 2,
		}, {
			name: "blank once", answers: script(says(""), says("there I am")), says: "there I am", calls: 2,
		}, {
			name: "cut words", answers: script(says("half of the").ends("length")), reason: "model_length_capped",
			says: "half of the", calls: 1,
		}, {
			name: "content filter with calls", answers: script(calls("look", "{}").ends("content_filter")),
			reason: "safety_capped", says: "safety", calls: 1,
		}, {
			name: "content filter without words", answers: script(says("").ends("content_filter")),
			reason: "safety_capped", says: "safety", calls: 1,
		}, {
			name: "model down", answers: script(down()), says: "could not be reached", calls: 3,
		}, {
			name: "model down after a tool", answers: script(look, down()), says: "could not be reached", calls: 4,
			ran: 1,
		}, {
			name: "blocked tool", answers: script(calls("broken", "{}")), sum: says("no permission"),
			reason: "loop_capped", says: "permission", calls: 12,
		}, {
			name: "blocked tool, then words", answers: script(calls("broken", "{}"), calls("broken", "{}"),
				says("no permission")), says: "permission", calls: 3,
		}, {
			name: "denied tool", answers: script(calls("forbidden", "{}")), sum: says("it is forbidden"),
			reason: "loop_capped", says: "forbidden", calls: 6,
		}, {
			name: "steps, with a loop at the same time", answers: script(look), sum: says("enough"),
			reason: "turn_capped", says: "enough", calls: 6, ran: 4, set: func(th *thread) { th.max = 9 },
		},
	}
}

// counting is a model that always calls the tool count, at a price in tokens.
func counting(in int) func(int, *model.Request) reply {
	return func(n int, _ *model.Request) reply { return calls("count", fmt.Sprintf(`{"x":"%d"}`, n)).costs(in, 1) }
}

func testTools() (look *hand, all []tool.Tool) {
	look = returns("look", "nothing here")
	n := 0
	count := &hand{name: "count", do: func(context.Context, *tool.Call) (*tool.Result, error) {
		n++
		return tool.Text(fmt.Sprintf("this is number %d", n)), nil
	}}
	broken := &hand{name: "broken", effect: tool.ReadOnly, do: func(context.Context, *tool.Call) (*tool.Result, error) {
		return nil, errors.New("401 unauthorized: the API key is not valid")
	}}
	return look, []tool.Tool{look, count, broken, returns("task", "done"), returns("forbidden", "secret")}
}

func runEnding(t *testing.T, e ending) (*thread, *hand, []message.Message) {
	t.Helper()
	look, tools := testTools()
	th := newThread(t, &bot{answer: e.answers, last: e.sum}, tools...)
	if e.set != nil {
		e.set(th)
	}
	msgs, err := th.say(t.Context(), "find it")
	if err != nil {
		t.Fatalf("the run failed: %v", err)
	}
	return th, look, msgs
}

// TestAlwaysAnAnswer: whatever stops a run, the user gets words that say where it stands, clients the reason, and the
// model at most one more call, without tools.
func TestAlwaysAnAnswer(t *testing.T) {
	for _, e := range endings() {
		t.Run(e.name, func(t *testing.T) {
			th, look, msgs := runEnding(t, e)
			answer := msgs[len(msgs)-1]
			if answer.Role != message.AI || answer.AsksForTools() || !strings.Contains(answer.Text(), e.says) {
				t.Errorf("the run ends with %s %q, want an answer with %q", answer.Role, answer.Text(), e.says)
			}
			if got := th.reason(); got != e.reason {
				t.Errorf("stop_reason %q, want %q", got, e.reason)
			}
			if n := len(th.bot.requests); n > e.calls {
				t.Errorf("the model was asked %d times, want at most %d", n, e.calls)
			}
			if diff := cmp.Diff(e.ran, len(look.ran)); diff != "" {
				t.Errorf("runs of the tool (-want +got): %s\n%q", diff, look.ran)
			}
			for i, req := range th.bot.requests {
				if req.Settings.NoTools && i+1 < len(th.bot.requests) && !th.bot.requests[i+1].Settings.NoTools {
					t.Errorf("request %d has no tools, and %d more follow", i, len(th.bot.requests)-i-1)
				}
			}
			th.allStrict(0)
		})
	}
}

// TestTheTurnAfterAnInterventionIsSound: what a stop leaves behind is taken by every provider, and the next turn goes
// on where the last one ended.
func TestTheTurnAfterAnInterventionIsSound(t *testing.T) {
	for _, e := range endings() {
		t.Run(e.name, func(t *testing.T) {
			th, _, _ := runEnding(t, e)
			first := len(th.bot.requests)
			th.bot.answer = func(n int, _ *model.Request) reply {
				return script(calls("look", "{}"), says("fine"))(n-first, nil)
			}
			th.max, th.cfg.Settings = 0, allOn()
			msgs, err := th.say(t.Context(), "go on")
			if err != nil {
				t.Fatalf("the run failed: %v", err)
			}
			if got := msgs[len(msgs)-1].Text(); got != "fine" || th.reason() != "" {
				t.Errorf("the next turn ends with %q, stop_reason %q", got, th.reason())
			}
			th.allStrict(first)
			for i := range th.bot.requests[1:] {
				if why := begins(th.bot.requests[i], th.bot.requests[i+1]); why != "" {
					t.Fatalf("request %d does not begin as the one before: %s", i+1, why)
				}
			}
		})
	}
}

// TestACancelDuringOpenCallsLeavesASoundThread: the finished call keeps its result, the other is answered as cancelled,
// and the next turn can go on.
func TestACancelDuringOpenCallsLeavesASoundThread(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	quick := make(chan struct{})
	stopped := errors.New("the user pressed stop")
	slow := &hand{name: "slow", do: func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		<-quick
		cancel(stopped)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	fast := &hand{name: "fast", do: func(context.Context, *tool.Call) (*tool.Result, error) {
		return tool.Text("the fast one is done"), nil
	}}
	th := newThread(t, &bot{answer: script(calls("slow", "{}", "fast", "{}"), says("fine"))}, slow, fast)
	th.commit = func(s agent.Step) error {
		for _, e := range s.Events {
			if raw, _ := json.Marshal(e.Data); strings.Contains(string(raw), "the fast one is done") {
				close(quick)
			}
		}
		return nil
	}
	if _, err := th.say(ctx, "do both"); !errors.Is(err, stopped) {
		t.Fatalf("the run ends with %v", err)
	}
	th.commit = nil
	if _, err := th.say(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	th.allStrict(0)
	sent := strings.Join(wire(th.bot.requests[1]), "\n")
	for _, want := range []string{"the fast one is done", "cancelled"} {
		if !strings.Contains(sent, want) {
			t.Errorf("the next request does not hold %q:\n%s", want, sent)
		}
	}
	if len(slow.ran) != 1 || len(fast.ran) != 1 {
		t.Errorf("runs: slow %d, fast %d", len(slow.ran), len(fast.ran))
	}
}
