package prompts

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"
	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// measured is the report, made once for all tests.
var measured = sync.OnceValues(func() (*Report, error) { return Run(context.Background(), Config{}) })

func report(t *testing.T) *Report {
	t.Helper()
	r, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFixedPromptIsSmall: what every request has, as tokenizers in use count it, and that the guess that the command
// prints is not far off.
func TestFixedPromptIsSmall(t *testing.T) {
	guessed := report(t).Fixed
	for _, name := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
		codec, err := tokenizer.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		var r Report
		err = r.measureFixed(t.Context(), Config{Count: func(s string) int {
			n, err := codec.Count(s)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range r.Fixed {
			t.Logf("%s, %s: %d tokens", name, f.Name, f.Total)
			if f.Goal > 0 && f.Total > f.Goal {
				t.Errorf("%s, %s: %d tokens, more than %d", name, f.Name, f.Total, f.Goal)
			}
			if g := guessed[i].Total; g < f.Total || g > f.Total*5/4 {
				t.Errorf("%s, %s: %d tokens, and the guess is %d", name, f.Name, f.Total, g)
			}
		}
	}
}

// TestEveryRequestBeginsWithTheOneBefore: within a run and over turns, but for what is declared.
func TestEveryRequestBeginsWithTheOneBefore(t *testing.T) {
	r := report(t).Long
	var causes []string
	broken := map[int]bool{}
	for _, b := range r.Breaks {
		causes, broken[b.Call] = append(causes, b.Cause), true
		if b.Cause == Undeclared {
			t.Errorf("call %d:\nwas %q\nis  %q", b.Call, b.Was, b.Is)
		}
	}
	if d := cmp.Diff([]string{Compacted, ToolsChanged, ToolsChanged}, causes); d != "" {
		t.Error(d)
	}
	for i, e := range r.exchanges[1:] {
		was, _, ok := bytes.Cut(r.exchanges[i].body, []byte(`],"tool_choice":"none"}`))
		if !ok {
			was = bytes.TrimSuffix(was, []byte("]}"))
		}
		if bytes.HasPrefix(e.body, was) == broken[i+2] {
			t.Errorf("call %d: a prefix is %t", i+2, !broken[i+2])
		}
	}
}

// TestWhatChangesIsAdded: facts, skills, tasks and what is said to the run change nothing that was sent.
func TestWhatChangesIsAdded(t *testing.T) {
	v := report(t).Changing
	for _, b := range v.Breaks {
		t.Errorf("call %d: %s:\nwas %q\nis  %q", b.Call, b.Cause, b.Was, b.Is)
	}
	all := Total("", v.Turns)
	if all.Real != all.Ideal || !v.reused() {
		t.Errorf("of %d bytes %d are used again, %d could be", all.Sent, all.Real, all.Ideal)
	}
	for i, e := range v.exchanges[1:] {
		if !slices.Equal(e.tools, v.exchanges[i].tools) {
			t.Errorf("call %d has other tools", i+2)
		}
	}
}

// TestChangingHoldsWhatItIsFor: else the test before holds little.
func TestChangingHoldsWhatItIsFor(t *testing.T) {
	v := report(t).Changing
	var calls []int
	for _, turn := range v.Turns {
		calls = append(calls, turn.Requests)
	}
	if d := cmp.Diff([]int{5, 4, 6, 4, 4, 2, 3}, calls); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"memory", "skill_activation", "skills", "toolbox_reminder"},
		slices.Sorted(slices.Values(v.Notes))); d != "" {
		t.Error(d)
	}
	last := v.exchanges[len(v.exchanges)-1].body
	for what, want := range map[string]int{
		"New since you were last told": 2, "This takes the place of what you were told": 2, // facts
		"Not there any more: charts": 1, "Not there any more: letters": 1, "New, or other than before": 1, // skills
		`Its SKILL.md:\\n`: 2, "Its text stands above": 1,
		// three calls, and the tool itself
		"works in the background; its id is": 1, "Task Succeeded": 4, `"task_wait"`: 4,
		// said meanwhile
		"In English, please": 1, "And short": 1, "The board decides on quay 4": 1, "Leave out quay 4": 1, "No hurry": 1,
	} {
		if n := len(regexp.MustCompile(what).FindAll(last, -1)); n != want {
			t.Errorf("the last request has %q %d times, not %d", what, n, want)
		}
	}
	if !bytes.Contains(last, []byte("You are spoken to")) {
		t.Error("nothing was said while the run waited for a task")
	}
}

// TestEveryWireKeepsThePrefix: what the chain keeps in order, no provider's encoding may mix up again.
func TestEveryWireKeepsThePrefix(t *testing.T) {
	for _, w := range wires.All()[1:] {
		t.Run(w.Name, func(t *testing.T) {
			r, err := Run(t.Context(), Config{Wire: w})
			if err != nil {
				t.Fatal(err)
			}
			var causes []string
			for _, b := range r.Long.Breaks {
				causes = append(causes, b.Cause)
				if b.Cause == Undeclared {
					t.Errorf("call %d:\nwas %q\nis  %q", b.Call, b.Was, b.Is)
				}
			}
			if d := cmp.Diff([]string{Compacted, ToolsChanged, ToolsChanged}, causes); d != "" {
				t.Error(d)
			}
			for _, b := range r.Changing.Breaks {
				t.Errorf("call %d of the other conversation:\nwas %q\nis  %q", b.Call, b.Was, b.Is)
			}
			if !r.Changing.reused() {
				t.Errorf("of %v too little is used again", Total("", r.Changing.Turns))
			}
		})
	}
}

// TestToolsKeepTheirOrder: within a turn nothing changes; a plan adds at the end, and leaving it away takes that away
// again.
func TestToolsKeepTheirOrder(t *testing.T) {
	all := report(t).Long.exchanges
	tools := func(e exchange) string {
		members, ok := rawjson.Members(e.body)
		if !ok {
			t.Fatalf("no object: %s", e.body)
		}
		return strings.TrimSuffix(string(members["tools"]), "]")
	}
	for i, e := range all[1:] {
		was, is := tools(all[i]), tools(e)
		if e.turn == all[i].turn && was != is {
			t.Errorf("call %d has other tools", i+2)
		}
		if !strings.HasPrefix(was, is) && !strings.HasPrefix(is, was) {
			t.Errorf("call %d has its tools in another order", i+2)
		}
	}
}

// TestScenarioHoldsWhatItIsFor: else the other tests hold little.
func TestScenarioHoldsWhatItIsFor(t *testing.T) {
	r := report(t).Long
	var calls []int
	for _, turn := range r.Turns {
		calls = append(calls, turn.Requests)
	}
	if d := cmp.Diff([]int{32, 2, 3, 2, 6, 1}, calls); d != "" {
		t.Error(d)
	}
	notes := []string{
		"budget_warning", "deerflow_view_image_context", "durable_context", "loop_warning", "memory", "progress_hint",
		"stop_note", "terminal_response_recovery", "todo_completion_reminder", "todo_reminder",
	}
	if d := cmp.Diff(notes, slices.Sorted(slices.Values(r.Notes))); d != "" {
		t.Error(d)
	}
	images := 0
	for _, e := range r.exchanges {
		images = max(images, e.images)
	}
	if images != 2 || r.SideCalls == 0 {
		t.Errorf("%d images, %d calls for summaries", images, r.SideCalls)
	}
	last := r.exchanges[len(r.exchanges)-1].body
	for what, want := range map[string]int{
		"current_date>2026-11-": 2, "Answer to your question": 1, regexp.QuoteMeta(untrusted.Begin): 7,
		"Collect before you write": 0, "durable_context_data>": 2, "Likes short answers": 1, "takes the place of": 1,
	} {
		if n := len(regexp.MustCompile(what).FindAll(last, -1)); n != want {
			t.Errorf("the last request has %q %d times, not %d", what, n, want)
		}
	}
	for i, what := range map[int]string{0: "<current_uploads>", 7: "Collect before you write"} {
		if !bytes.Contains(r.exchanges[i].body, []byte(what)) {
			t.Errorf("call %d lacks %q", i+1, what)
		}
	}
}

func TestCauses(t *testing.T) {
	plain := facts{compactions: 1, images: 3, tools: []string{"ls"}}
	for _, c := range []struct {
		name   string
		is     facts
		chosen bool
		want   string
	}{
		{"nothing", plain, false, Undeclared},
		{"the user chose, and nothing came of it", plain, true, Undeclared},
		{"tools that nobody chose", facts{compactions: 1, images: 3, tools: []string{"ls", "rm"}}, false, Undeclared},
		{"tools that the user chose", facts{compactions: 1, images: 3, tools: []string{"ls", "rm"}}, true,
			ToolsChanged},
		{"a compaction", facts{compactions: 2, images: 3, tools: []string{"ls"}}, false, Compacted},
		{"fewer images", facts{compactions: 1, images: 2, tools: []string{"ls"}}, false, ImagesGone},
		{"more images", facts{compactions: 1, images: 4, tools: []string{"ls"}}, false, Undeclared},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cause(plain, c.is, c.chosen); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestUndeclaredBreakIsAMissedGoal: a request that is changed where it was sent already.
func TestUndeclaredBreakIsAMissedGoal(t *testing.T) {
	var report Report
	r := &report.Long
	body := func(messages string) exchange { return exchange{body: []byte(`{"messages":[` + messages + `]}`)} }
	r.compare(wires.All()[0], []exchange{body(`"aaaa"`), body(`"aaaa","b"`), body(`"aaXa","b","c"`)},
		[]turn{{name: "one"}})
	want := []Break{{
		Call: 3, Turn: 1, Cause: Undeclared, Lost: len(`aa","b"`), At: len(`{"messages":["aa`),
		Was: `{"messages":["aaaa","b"`, Is: `{"messages":["aaXa","b","c"`,
	}}
	if d := cmp.Diff(want, r.Breaks); d != "" {
		t.Error(d)
	}
	first, second, third := len(`{"messages":["aaaa"`), len(`{"messages":["aaaa","b"`),
		len(`{"messages":["aaXa","b","c"`)
	total := Turn{Name: "one", Requests: 3, Sent: first + second + third, Ideal: first + second, Real: first +
		want[0].At}
	if d := cmp.Diff([]Turn{total}, r.Turns); d != "" {
		t.Error(d)
	}
	report.Fixed = []Fixed{{Name: "small", Total: 3, Goal: 3}, {Name: "large", Total: 4, Goal: 3},
		{Name: "free", Total: 9}}
	report.Changing = Conversation{Name: "other", Goal: 95, Turns: []Turn{{Name: "enough", Sent: 100, Real: 100},
		{Name: "too little", Sent: 100, Real: 89}}}
	if report.Missed() != 3 {
		t.Errorf("%d goals missed", report.Missed())
	}
	var out bytes.Buffer
	report.Print(&out)
	for _, want := range []string{`(?m)^  small .* ≤ 3 +✓$`, `(?m)^  large .* ≤ 3 +✗$`, `(?m)^  not declared +1 .*✗$`,
		`was .*aaaa`, `(?m)^  all .* 94\.5 % +≥ 95 % +✗$`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
