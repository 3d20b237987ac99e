package summarization

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

func done(int) message.Chunk { return says("done") }

func TestAnyThresholdStartsACompaction(t *testing.T) {
	tests := []struct {
		name   string
		cfg    Config
		report int
		due    bool
	}{
		{"tokens", Config{Trigger: Amount{Tokens: 3000}}, 0, true},
		{"tokens not reached", Config{Trigger: Amount{Tokens: 30_000}}, 0, false},
		{"messages", Config{Trigger: Amount{Messages: 10}}, 0, true},
		{"messages not reached", Config{Trigger: Amount{Messages: 50}}, 0, false},
		{"fraction of the real window", Config{Trigger: Amount{Fraction: 0.5}, Window: 8000}, 0, true},
		{"fraction not reached", Config{Trigger: Amount{Fraction: 0.5}, Window: 80_000}, 0, false},
		{"fraction of an unknown window", Config{Trigger: Amount{Fraction: 0.01}}, 0, false},
		{"any of them", Config{Trigger: Amount{Messages: 50, Tokens: 3000}}, 0, true},
		{"what the provider counts, prompt included", Config{Trigger: Amount{Tokens: 30_000}}, 30_000, true},
		{"none", Config{}, 1_000_000, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &provider{answer: done, report: tt.report}
			tt.cfg.Keep = Amount{Messages: 4}
			b := newBed(t, p, tt.cfg).with(history("uauauauaua", 2000))
			b.mustSay("go on")
			b.mustSay("and again")
			if got := len(p.summaries) > 0; got != tt.due {
				t.Errorf("%d summaries; %s", len(p.summaries), shape(b.last().Messages))
			}
			b.check()
			if n := len(agent.Messages.Get(b.state)); n != 14 {
				t.Errorf("the thread has %d messages, want all 14", n)
			}
		})
	}
}

func TestTriggersOfTheConfiguration(t *testing.T) {
	got := AmountOf(config.Threshold{Type: "tokens", Value: 51_000}, config.Threshold{Type: "messages", Value: 50},
		config.Threshold{Type: "tokens", Value: 32_000}, config.Threshold{Type: "fraction", Value: 0.8})
	if diff := cmp.Diff(Amount{Tokens: 32_000, Messages: 50, Fraction: 0.8}, got); diff != "" {
		t.Error(diff)
	}
	if AmountOf() != (Amount{}) {
		t.Error("no threshold is one")
	}
}

func TestKeepsTheNewest(t *testing.T) {
	tests := []struct {
		name string
		keep Amount
		want string // the request that follows
	}{
		{"four messages", Amount{Messages: 4}, "baauu"},
		{"a pair is not parted", Amount{Messages: 5}, "bcraauu"},
		{"two thousand tokens", Amount{Tokens: 2000}, "bcraauu"},
		{"a fraction", Amount{Fraction: 0.02}, "bcraauu"},
		{"20 by default", Amount{}, "uauauaucrcraauu"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, &provider{answer: done}, Config{Trigger: Amount{Messages: 12}, Keep: tt.keep,
				Window: 100_000}).with(history("uauauaucrcraau", 2000))
			b.mustSay("go on")
			if diff := cmp.Diff(tt.want, shape(b.last().Messages)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLatestRequestIsNeverLost: pitfall 31. The user's request is far behind the cut, and is sent right after the
// block.
func TestLatestRequestIsNeverLost(t *testing.T) {
	p := &provider{answer: func(n int) message.Chunk {
		if n < 30 {
			return dumps(n, 3000)
		}
		return says("done")
	}}
	b := newBed(t, p, Config{Trigger: Amount{Tokens: 8000}, Keep: Amount{Messages: 6}})
	b.mustSay("MY REQUEST")
	for i, req := range p.asked {
		if userText(req.Messages) != "MY REQUEST" {
			t.Fatalf("request %d has lost it: %s", i, shape(req.Messages))
		}
	}
	if b.check() == 0 || !strings.HasPrefix(shape(b.last().Messages), "bucr") {
		t.Errorf("no compaction: %s", shape(b.last().Messages))
	}
	if n := len(agent.Messages.Get(b.state)); n != 62 {
		t.Errorf("the thread has %d messages, want all 62", n)
	}
}

// TestNoSummaryBeforeEveryCall: what is kept is itself above the trigger.
func TestNoSummaryBeforeEveryCall(t *testing.T) {
	for name, cfg := range map[string]Config{
		"tokens":   {Trigger: Amount{Tokens: 2000}, Keep: Amount{Tokens: 50_000}},
		"messages": {Trigger: Amount{Messages: 10}, Keep: Amount{Messages: 30}},
	} {
		for _, report := range []int{0, 50_000} {
			t.Run(fmt.Sprint(name, report), func(t *testing.T) {
				p := &provider{report: report, answer: func(n int) message.Chunk {
					if n < 40 {
						return dumps(n, 500)
					}
					return says("done")
				}}
				b := newBed(t, p, cfg).with(history(strings.Repeat("ua", 16), 1000))
				b.mustSay("go on")
				if n := len(p.summaries); n == 0 || n > 12 {
					t.Errorf("%d summaries in %d calls", n, len(p.asked))
				}
				if breaks := b.check(); breaks > 13 {
					t.Errorf("%d of %d requests do not continue the one before", breaks, len(p.asked))
				}
			})
		}
	}
}

// TestFourParallelReads: chapter 15's case. Four results of 50,000 characters at once are seen by the model once, as
// they are, and then make room by themselves; later requests are below the trigger.
func TestFourParallelReads(t *testing.T) {
	files, dir := filesOf(t)
	p := &provider{answer: func(n int) message.Chunk {
		switch n {
		case 0:
			return dumps(n, 50_000, 50_000, 50_000, 50_000)
		case 1, 2, 3, 4:
			return dumps(n, 100)
		}
		return says("done")
	}}
	b := newBed(t, p, Config{Trigger: Amount{Tokens: 32_000}, Keep: Amount{Messages: 10}, Files: files})
	b.mustSay("read them")
	b.check()
	if n := p.count(p.asked[1]); n < 50_000 {
		t.Errorf("the model did not see what it read: %d tokens", n)
	}
	for i, req := range p.asked[2:] {
		if n := p.count(req); n > 32_000 {
			t.Errorf("request %d has %d tokens", i+2, n)
		}
	}
	if len(p.summaries) != 0 {
		t.Errorf("%d calls of the summarizer for nothing", len(p.summaries))
	}
	short := b.compaction().Shortened
	if len(short) == 0 {
		t.Fatal("nothing was shortened")
	}
	for _, s := range short {
		_, rest, ok := strings.Cut(s.Note, "all of it is in /mnt/user-data/")
		path, _, _ := strings.Cut(rest, " …")
		if raw, err := os.ReadFile(filepath.Join(dir, path)); !ok || err != nil || len(raw) != 50_000 {
			t.Errorf("%q: %d bytes, %v", s.Note, len(raw), err)
		}
	}
}

// TestWindows: no request is sent that the window cannot take, whatever the tools return.
func TestWindows(t *testing.T) {
	tests := []struct {
		name    string
		window  int
		cfg     Config
		density float64
		mute    bool
		sizes   []int
	}{
		{"8k", 8192, Config{Trigger: Amount{Tokens: 6000}, TrimTokens: 15_564}, 0, false,
			[]int{200, 50_000, 3000, 9000, 100, 100}},
		{"8k without a trigger", 8192, Config{}, 0, false, []int{2000, 3000, 50_000, 100}},
		{"8k, a provider that counts more", 8192, Config{TrimTokens: 2000}, 3, false, []int{2000, 3000, 5000, 100}},
		{"8k, no usage", 8192, Config{}, 0, true, []int{2000, 30_000, 5000, 100}},
		{"64k with a trigger of 51k", 65_536, Config{Trigger: Amount{Tokens: 51_000}, Keep: Amount{Messages: 10},
			TrimTokens: 15_564}, 0, false, []int{20_000, 50_000, 500}},
		{"64k, keep more than fits", 65_536, Config{Trigger: Amount{Tokens: 51_000}, Keep: Amount{Messages: 200}}, 0,
			false, []int{20_000, 50_000, 500}},
		{"64k, four reads at once", 65_536, Config{Trigger: Amount{Tokens: 51_000}}, 0, false, []int{-50_000, 500}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, _ := filesOf(t)
			p := &provider{window: tt.window, density: tt.density, mute: tt.mute, answer: func(n int) message.Chunk {
				if n%31 == 30 {
					return says(words("answer", 1200))
				}
				size := tt.sizes[n%len(tt.sizes)]
				if size < 0 {
					return dumps(n, -size, -size, -size, -size)
				}
				return dumps(n, size)
			}}
			tt.cfg.Window, tt.cfg.Files = tt.window, files
			b := newBed(t, p, tt.cfg)
			for i := range 3 {
				b.mustSay(fmt.Sprintf("request %d %s", i, strings.Repeat("please ", 60)))
			}
			breaks := b.check()
			for i, req := range p.asked {
				if !strings.Contains(userText(req.Messages), fmt.Sprintf("request %d ", i/31)) {
					t.Fatalf("request %d has lost what the user wants: %s", i, shape(req.Messages))
				}
			}
			if p.refused > 0 {
				t.Errorf("%d requests were too long", p.refused)
			}
			if breaks == 0 || breaks > len(p.asked)/2 {
				t.Errorf("%d of %d requests do not continue the one before", breaks, len(p.asked))
			}
			t.Logf("%d calls, %d summaries, %d compactions", len(p.asked), len(p.summaries), b.compaction().Number)
		})
	}
}

// TestUserMessageLargerThanTheWindow is shortened, not refused; the whole of it is in a file.
func TestUserMessageLargerThanTheWindow(t *testing.T) {
	files, _ := filesOf(t)
	p := &provider{window: 8192, answer: done}
	b := newBed(t, p, Config{Window: 8192, Files: files})
	b.mustSay("START " + words("paste", 100_000) + " END")
	text := userText(b.last().Messages)
	if p.refused > 0 || !strings.HasPrefix(text, "START") || !strings.HasSuffix(text, "END") ||
		!strings.Contains(text, "all of it is in /mnt/user-data/outputs/") {
		t.Errorf("refused %d: %.200s", p.refused, text)
	}
	if got := agent.Messages.Get(b.state)[0].Text(); len(got) < 100_000 {
		t.Error("the stored message was shortened")
	}
}

func TestWindowThatTakesNothing(t *testing.T) {
	p := &provider{window: 100, answer: done}
	b := newBed(t, p, Config{Window: 20}, llmerror.New(llmerror.Config{}))
	b.mustSay("hello")
	msgs := agent.Messages.Get(b.state)
	if reason, ok := llmerror.FallbackOf(msgs[len(msgs)-1]); !ok || reason != string(model.ClassContextLength) ||
		len(p.asked) != 0 || p.refused != 0 {
		t.Errorf("reason %q, asked %d, refused %d", reason, len(p.asked), p.refused)
	}
}

// TestTooLongIsCompactedAndSentAgain: the window is not configured, and the provider says no.
func TestTooLongIsCompactedAndSentAgain(t *testing.T) {
	p := &provider{window: 10_000, answer: done}
	b := newBed(t, p, Config{}, llmerror.New(llmerror.Config{})).with(history(strings.Repeat("ua", 24), 1000))
	b.mustSay("THE QUESTION")
	if p.refused != 1 || len(p.asked) != 1 || len(p.summaries) == 0 {
		t.Fatalf("refused %d, asked %d, summaries %d", p.refused, len(p.asked), len(p.summaries))
	}
	if userText(b.last().Messages) != "THE QUESTION" || !strings.HasPrefix(shape(b.last().Messages), "b") {
		t.Error(shape(b.last().Messages))
	}
	if got := threadstate.SummaryText.Get(b.state); got != "summary "+fmt.Sprint(len(p.summaries)-1) {
		t.Errorf("summary_text is %q", got)
	}
	b.mustSay("next") // goes on from what was sent
	if p.refused != 1 || b.check() != 0 {
		t.Errorf("refused %d, breaks %d", p.refused, b.check())
	}
	var discarded int
	for _, e := range b.events {
		if e.Kind() == event.KindDiscard {
			discarded++
		}
	}
	if discarded != 0 {
		t.Errorf("%d messages were withdrawn", discarded)
	}
}

// TestFailedSummaryLeavesEverything: pitfall 32. And the next attempt waits.
func TestFailedSummaryLeavesEverything(t *testing.T) {
	for name, fail := range map[string]func() (string, error){
		"failed": func() (string, error) { return "", &model.Error{Class: model.ClassBusy, Message: "busy"} },
		"blank":  func() (string, error) { return " \n<think>hm</think> ", nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{summary: func(int, *model.Request) (string, error) { return fail() },
				answer: func(n int) message.Chunk {
					if n < 10 {
						return dumps(n, 200)
					}
					return says("done")
				}}
			b := newBed(t, p, Config{Trigger: Amount{Tokens: 4000}, Keep: Amount{Messages: 4}}).
				with(history("uauauauauaua", 2000))
			b.mustSay("go on")
			if len(p.summaries) != 1 {
				t.Errorf("%d attempts in %d calls", len(p.summaries), len(p.asked))
			}
			if breaks := b.check(); breaks != 0 || shape(b.last().Messages)[0] == 'b' ||
				threadstate.SummaryText.Get(b.state) != "" {
				t.Errorf("something was cut: %s", shape(b.last().Messages))
			}
			fail = func() (string, error) { return "at last", nil }
			b.mustSay(words("more", 8000))
			if threadstate.SummaryText.Get(b.state) != "at last" {
				t.Error("there was no second attempt after it had grown")
			}
		})
	}
}

// TestFailedSummaryInATightWindow: the request must be cut all the same; the next summary makes up for it.
func TestFailedSummaryInATightWindow(t *testing.T) {
	broken := true
	p := &provider{window: 8192, answer: done, summary: func(_ int, req *model.Request) (string, error) {
		if broken {
			return "", errors.New("down")
		}
		return "works", nil
	}}
	b := newBed(t, p, Config{Window: 8192, Keep: Amount{Messages: 4}}).with(history(strings.Repeat("ua", 20), 1500))
	b.mustSay("one")
	c := b.compaction()
	if p.refused > 0 || c.Upto == "" || c.Summarized == c.Upto ||
		!strings.Contains(b.last().Messages[0].Text(), "not covered by a summary") {
		t.Fatalf("refused %d, %+v", p.refused, c)
	}
	broken = false
	p.summaries = nil
	b.mustSay(words("two", 30_000))
	var seen strings.Builder
	for _, req := range p.summaries {
		seen.WriteString(req.Messages[0].Text())
	}
	for i := range 20 {
		if !strings.Contains(seen.String(), fmt.Sprintf("u%d", 2*i)) {
			t.Errorf("message %d was never summed up", i)
		}
	}
	if c := b.compaction(); c.Summarized != c.Upto || strings.Contains(b.last().Messages[0].Text(), "not covered") {
		t.Errorf("the gap is still there: %+v", c)
	}
}

// TestSummarizerSeesAllThatIsRemoved in pieces, each with the summary so far.
func TestSummarizerSeesAllThatIsRemoved(t *testing.T) {
	p := &provider{answer: done}
	b := newBed(t, p, Config{Trigger: Amount{Messages: 20}, Keep: Amount{Messages: 4}, TrimTokens: 1500}).
		with(history("ua"+strings.Repeat("ucra", 6)+"ua", 3000))
	b.mustSay("go on")
	if len(p.summaries) < 5 {
		t.Fatalf("%d calls", len(p.summaries))
	}
	var seen strings.Builder
	for i, req := range p.summaries {
		text := req.Messages[0].Text()
		seen.WriteString(text)
		if n := p.count(req); n > 3500 {
			t.Errorf("call %d has %d tokens", i, n)
		}
		if i > 0 && !strings.Contains(text, fmt.Sprintf("<existing_summary>\nsummary %d\n", i-1)) {
			t.Errorf("call %d does not carry the summary so far", i)
		}
		if strings.Contains(text, "More messages will follow") == (i == len(p.summaries)-1) {
			t.Errorf("call %d is mistaken on whether more follows", i)
		}
	}
	all := agent.Messages.Get(b.state)
	c := b.compaction()
	for _, m := range all[:c.Start(all)] {
		if mark := compaction.Escape(m.Text()[:9]); !strings.Contains(seen.String(), mark) {
			t.Errorf("%s was not seen", m.ID)
		}
	}
	if strings.Contains(seen.String(), "<<") {
		t.Error("the text of a message is not escaped")
	}
	p.summaries = nil
	for range 10 {
		b.mustSay("more")
	}
	if len(p.summaries) == 0 || !strings.Contains(p.summaries[0].Messages[0].Text(), "<existing_summary>\nsummary ") {
		t.Error("the second summary does not build on the first")
	}
	if got := strings.Count(p.summaries[0].Messages[0].Text(), "durable_context"); got != 0 {
		t.Error("the block was summed up again") // pitfall 33
	}
}

func TestPieceThatIsTooLongForTheSummarizer(t *testing.T) {
	small := &provider{window: 3000}
	b := newBed(t, &provider{answer: done}, Config{Model: small, Trigger: Amount{Messages: 10},
		Keep: Amount{Messages: 4}}).with(history("uauauauaua", 5000))
	b.mustSay("go on")
	if small.refused == 0 || len(small.summaries) < 4 || threadstate.SummaryText.Get(b.state) == "" {
		t.Errorf("refused %d, answered %d", small.refused, len(small.summaries))
	}
}

func TestOwnModelThenThatOfTheRun(t *testing.T) {
	broken := &provider{summary: func(int, *model.Request) (string, error) { return "", errors.New("down") }}
	own := &provider{summary: func(int, *model.Request) (string, error) { return "by its own", nil }}
	for _, tt := range []struct {
		name string
		own  *provider
		want string
	}{{"own", own, "by its own"}, {"own fails", broken, "summary 0"}} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, &provider{answer: done}, Config{Model: tt.own, Trigger: Amount{Messages: 6},
				Keep: Amount{Messages: 2}}).with(history("uauaua", 500))
			b.mustSay("go on")
			if got := threadstate.SummaryText.Get(b.state); got != tt.want || len(tt.own.summaries) != 1 {
				t.Errorf("summary_text is %q", got)
			}
		})
	}
}

// TestSummaryIsNotStreamed: pitfall 34; and what it took is in the run's usage.
func TestSummaryIsNotStreamed(t *testing.T) {
	p := &provider{answer: done}
	b := newBed(t, p, Config{Trigger: Amount{Messages: 6}, Keep: Amount{Messages: 2}}).with(history("uauaua", 500))
	b.mustSay("go on")
	for _, e := range b.events {
		if c, ok := e.(event.Chunk); ok && strings.Contains(c.Text, "summary") {
			t.Errorf("streamed: %q", c.Text)
		}
	}
	want := p.count(p.summaries[0]) + p.count(p.asked[0])
	if b.usage.InputTokens != want {
		t.Errorf("the run took %d tokens, want %d", b.usage.InputTokens, want)
	}
	for _, m := range agent.Messages.Get(b.state) {
		if strings.Contains(m.Text(), "summary 0") {
			t.Error("the summary is a message of the thread")
		}
	}
}

func TestCancelWhileSumming(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user left")
	p := &provider{answer: done, summary: func(int, *model.Request) (string, error) {
		cancel(cause)
		return "", ctx.Err()
	}}
	b := newBed(t, p, Config{Trigger: Amount{Messages: 6}, Keep: Amount{Messages: 2}}).with(history("uauaua", 500))
	if err := b.run(ctx, "go on"); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if b.compaction().Upto != "" || len(p.asked) != 0 {
		t.Errorf("%+v", b.compaction())
	}
}

// TestHookThatRunsTwiceDoesTheSame: a crash between the summary and its commit.
func TestHookThatRunsTwiceDoesTheSame(t *testing.T) {
	p := &provider{answer: done, summary: func(int, *model.Request) (string, error) { return "s", nil }}
	m := New(Config{RunModel: p, Trigger: Amount{Tokens: 2000}, Keep: Amount{Messages: 2}})
	b := newBed(t, p, Config{}).with(history("uauaua", 2000))
	var first string
	for range 2 {
		cmd, err := m.BeforeModel(t.Context(), &agent.Runtime{Spend: func(message.Usage) {}}, b.state)
		raw, _ := cmd.Update.MarshalJSON()
		if err != nil || len(raw) < 50 || first != "" && first != string(raw) {
			t.Fatalf("%v\n%s\n%s", err, first, raw)
		}
		first = string(raw)
	}
}

// TestHistoryThatWasReplaced: a client put another conversation in the place of the one that was compacted.
func TestHistoryThatWasReplaced(t *testing.T) {
	p := &provider{answer: done}
	b := newBed(t, p, Config{Trigger: Amount{Messages: 6}, Keep: Amount{Messages: 2}}).with(history("uauaua", 500))
	b.mustSay("go on")
	next, _, err := b.state.Apply(agent.Messages.Reset(history("ua", 100)...))
	if err != nil {
		t.Fatal(err)
	}
	b.state = next
	b.mustSay("new start")
	if got := shape(b.last().Messages); got != "uau" {
		t.Errorf("the request is %s", got)
	}
	p.summaries = nil
	b.with(history("aaaaaauaua", 500)[6:]).mustSay("and on")
	if len(p.summaries) != 1 || strings.Contains(p.summaries[0].Messages[0].Text(), "existing_summary") {
		t.Errorf("%d summaries, or one that builds on that of another conversation", len(p.summaries))
	}
}

// TestIdleCostsNothing to speak of: no update that people see, no summary, no change of the request.
func TestIdle(t *testing.T) {
	p := &provider{answer: done}
	b := newBed(t, p, Config{Trigger: Amount{Tokens: 1_000_000}}).with(history(strings.Repeat("ua", 50), 100))
	b.mustSay("go on")
	values, err := b.state.Values()
	if err != nil || values["compaction"] != nil || values["compaction_meter"] != nil {
		t.Errorf("clients see it: %v %v", values, err)
	}
	for _, s := range b.steps {
		for _, u := range s.Updates {
			if strings.Contains(u.Node, "Summarization") {
				t.Errorf("%s wrote something", u.Node)
			}
		}
	}
}

func BenchmarkIdleStep(b *testing.B) {
	p := &provider{answer: done}
	bed := newBed(b, p, Config{}).with(history(strings.Repeat("ucra", 50), 1000))
	m := New(Config{RunModel: p, Trigger: Amount{Tokens: 1_000_000}, Window: 1_000_000})
	req := &agent.ModelRequest{Model: p, System: strings.Repeat("x ", 10_000)}
	answer := message.New(message.AI, "ok")
	answer.ID = "answer"
	next := func(ctx context.Context, _ *agent.ModelRequest) (*agent.ModelResponse, error) {
		return &agent.ModelResponse{Message: answer}, ctx.Err()
	}
	step := func(s state.State) (*agent.ModelResponse, error) {
		req.State, req.Messages = s, agent.Messages.Get(s)
		if _, err := m.BeforeModel(b.Context(), &agent.Runtime{}, s); err != nil {
			return nil, err
		}
		return m.WrapModelCall(b.Context(), req, next)
	}
	resp, err := step(bed.state)
	if err != nil {
		b.Fatal(err)
	}
	s, _, err := bed.state.Apply(resp.Update.With(agent.Messages.Append(answer, history("u", 1000)[0])))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := step(s); err != nil {
			b.Fatal(err)
		}
	}
}
