package summarization

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/danglingtoolcall"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func TestManualCompaction(t *testing.T) {
	p := &provider{answer: done}
	b := newBed(t, p, Config{}).with(history(strings.Repeat("ua", 6), 500))
	m := New(Config{RunModel: p})
	r, err := m.Compact(t.Context(), Request{State: b.state, Keep: Amount{Messages: 4}})
	if err != nil || !r.Compacted || r.Removed != 8 || r.Kept != 4 || !r.NewSummary || r.Tokens < 300 ||
		r.Usage.TotalTokens == 0 {
		t.Fatalf("%v %+v", err, r)
	}
	next, changed, err := b.state.Apply(r.Update)
	if err != nil || next.Has("messages") == false || strings.Contains(strings.Join(changed, " "), "messages") {
		t.Fatalf("changed %v, %v", changed, err)
	}
	b.state = next
	b.mustSay("go on")
	if got := shape(b.last().Messages); got != "buauau" {
		t.Errorf("the next request is %s", got)
	}
}

func TestManualCompactionKeepsTheRequestBeside(t *testing.T) {
	p := &provider{answer: done}
	b := newBed(t, p, Config{}).with(history("uacrcrcra", 500))
	r, err := New(Config{RunModel: p}).Compact(t.Context(), Request{State: b.state, Keep: Amount{Messages: 3}})
	if err != nil || r.Kept != 4 || r.Removed != 5 {
		t.Fatalf("%v %+v", err, r)
	}
}

func TestManualCompactionWithNothingToDo(t *testing.T) {
	p := &provider{answer: done}
	b := newBed(t, p, Config{}).with(history("uaua", 500))
	for name, r := range map[string]Request{
		"few messages": {State: b.state, Keep: Amount{Messages: 4}},
		"empty thread": {},
		"not due":      {State: b.state, Keep: Amount{Messages: 2}, OnlyIfDue: true},
	} {
		got, err := New(Config{RunModel: p, Trigger: Amount{Tokens: 10_000}}).Compact(t.Context(), r)
		if diff := cmp.Diff(Report{}, got); diff != "" || err != nil || len(p.summaries) > 0 {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// TestManualCompactionReportsFailure: pitfall 32, not "nothing to do".
func TestManualCompactionReportsFailure(t *testing.T) {
	down := errors.New("down")
	for name, fail := range map[string]error{"failed": down, "blank": errBlank} {
		p := &provider{answer: done, summary: func(int, *model.Request) (string, error) {
			if fail == errBlank {
				return " ", nil
			}
			return "", fail
		}}
		b := newBed(t, p, Config{}).with(history("uauaua", 500))
		r, err := New(Config{RunModel: p, Window: 8000}).
			Compact(t.Context(), Request{State: b.state, Keep: Amount{Messages: 2}})
		if !errors.Is(err, fail) || r.Compacted || len(r.Update) != 0 {
			t.Errorf("%s: %v %+v", name, err, r)
		}
	}
	b := newBed(t, &provider{}, Config{}).with(history("uauaua", 500))
	if _, err := New(Config{}).Compact(t.Context(), Request{State: b.state, Keep: Amount{Messages: 2}}); err == nil {
		t.Error("no model and no error")
	}
}

// TestBlockTellsWhatMustOutliveTheCut and does not change until the next compaction, whatever the state's facts do.
func TestBlockTellsWhatMustOutliveTheCut(t *testing.T) {
	p := &provider{answer: done,
		summary: func(int, *model.Request) (string, error) { return "They spoke of <b>deer</b>.", nil }}
	b := newBed(t, p, Config{Trigger: Amount{Messages: 8}, Keep: Amount{Messages: 4}}).with(history("uauauaua", 500))
	facts := threadstate.Delegations.Put([]threadstate.Delegation{{ID: "d", Description: "find deer",
		SubagentType: "bash", Status: "completed", ResultBrief: "42 deer"}}).
		With(threadstate.SkillContext.Put([]threadstate.SkillEntry{
			{Path: "/mnt/skills/public/old/SKILL.md", Description: "old skill", LoadedAt: 2},
			{Path: "/mnt/skills/public/new/SKILL.md", Description: "its text is still shown", LoadedAt: 7},
		}))
	next, _, err := b.state.Apply(facts)
	if err != nil {
		t.Fatal(err)
	}
	b.state = next
	b.mustSay("go on")
	block := b.last().Messages[0].Text()
	for _, want := range []string{"They spoke of &lt;b&gt;deer&lt;/b&gt;.", "[completed] find deer (bash): 42 deer",
		"/mnt/skills/public/old/SKILL.md: old skill"} {
		if !strings.Contains(block, want) {
			t.Errorf("%q is missing in\n%s", want, block)
		}
	}
	if strings.Contains(block, "still shown") {
		t.Error("a skill is listed whose text the model sees")
	}
	if threadstate.SummaryText.Get(b.state) != "They spoke of <b>deer</b>." {
		t.Errorf("summary_text: %q", threadstate.SummaryText.Get(b.state))
	}
	b.state, _, _ = b.state.Apply(threadstate.Delegations.Put([]threadstate.Delegation{{ID: "e", Description: "another",
		Status: "completed"}}))
	b.mustSay("next")
	if b.last().Messages[0].Text() != block || b.check() != 0 {
		t.Error("the block changed without a compaction")
	}
}

// TestBehindRepairs: wrappers outside leave messages out and add others, also right at the cut.
func TestBehindRepairs(t *testing.T) {
	msgs := history("ucuacrauacra", 300) // the first call has no result
	failed := msgs[7]
	failed.Kwargs = message.Fields{message.KeyErrorFallback: []byte("true")}
	msgs[7] = failed
	for keep := 1; keep < len(msgs); keep++ {
		p := &provider{answer: func(n int) message.Chunk {
			if n < 2 {
				return dumps(n, 50)
			}
			return says("done")
		}}
		b := newBed(t, p, Config{Trigger: Amount{Messages: 10}, Keep: Amount{Messages: keep}}, danglingtoolcall.New(),
			llmerror.New(llmerror.Config{})).with(msgs)
		b.mustSay("go on")
		if breaks := b.check(); breaks > 1 || userText(b.last().Messages) != "go on" || len(p.summaries) == 0 {
			t.Errorf("keep %d: %d breaks, %d summaries: %s", keep, breaks, len(p.summaries), shape(b.last().Messages))
		}
	}
}

// TestRemindersOfTheDayAreRescued: the newest one that is cut.
func TestRemindersOfTheDayAreRescued(t *testing.T) {
	msgs := history("uuuauaua", 300)
	msgs[0].Role, msgs[0].Content = message.System, []message.Part{message.Text("old day")}
	msgs[0].Kwargs = message.Fields{message.KeyHidden: []byte("true"), "dynamic_context_reminder": []byte("true"),
		"reminder_date": []byte(`"2026-11-20, Friday"`)}
	msgs[1] = msgs[0]
	msgs[1].ID, msgs[1].Kwargs = "day", message.Fields{message.KeyHidden: []byte("true"),
		"dynamic_context_reminder": []byte("true"), "reminder_date": []byte(`"2026-11-21, Saturday"`)}
	b := newBed(t, &provider{answer: done}, Config{Trigger: Amount{Messages: 8}, Keep: Amount{Messages: 3}}).with(msgs)
	b.mustSay("go on")
	if got := b.last().Messages; len(got) < 2 || got[1].ID != "day" {
		t.Errorf("the day is gone: %s", shape(got))
	}
	c := compaction.Channel.Get(b.state)
	if diff := cmp.Diff([]string{"day"}, c.Rescued); diff != "" {
		t.Error(diff)
	}
}

// TestTheSkillInUseIsRescued: the text of the skill that the turn has named, wherever that stands, also when something
// was said to the run since; that of an earlier turn is not.
func TestTheSkillInUseIsRescued(t *testing.T) {
	user := func(run string) message.Message {
		m := message.New(message.Human, "x")
		m.Kwargs = message.Fields{conversation.KeyRun: []byte(run)}
		return m
	}
	note := func(active string) message.Message {
		m := conversation.Note("n", skills.TextNote, "text")
		m.Kwargs[skills.KeyActive] = []byte(active)
		return m
	}
	ai := message.New(message.AI, "x")
	const text, above = `{"name":"one","digest":"d"}`, `{"name":"one","digest":"d","above":true}`
	for name, c := range map[string]struct {
		msgs []message.Message
		want []int
	}{
		"in the turn":        {[]message.Message{user("1"), note(text), ai, ai}, []int{0, 1}},
		"something was said": {[]message.Message{user("1"), note(text), ai, user("1"), ai}, []int{1, 3}},
		"its text is above": {[]message.Message{user("1"), note(text), ai, user("2"), note(above), ai},
			[]int{1, 3, 4}},
		"of an earlier turn": {[]message.Message{user("1"), note(text), ai, user("2"), ai}, []int{3}},
		"another one since": {[]message.Message{user("1"), note(text), user("1"), note(`{"name":"two","digest":"e"}`),
			ai}, []int{2, 3}},
		"its text is nowhere": {[]message.Message{user("1"), note(above), ai}, []int{0, 1}},
		"no user":             {[]message.Message{ai, ai}, nil},
	} {
		got := rescue(c.msgs, len(c.msgs)-1)
		if len(got) != len(c.want) || cmp.Diff(c.want, got) != "" && len(got) > 0 {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
	msgs := []message.Message{user("1"), note(text), ai, ai}
	if got := rescue(msgs, 1); len(got) != 1 || got[0] != 0 {
		t.Errorf("what is behind the cut needs no rescue: %v", got)
	}
}

func FuzzPieces(f *testing.F) {
	f.Add("hello world, this is text", "漢字漢字漢字", 3)
	f.Add("", "\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, a, b string, size int) {
		size = 1 + (size&0x7fffffff)%1000
		rest := transcript([]message.Message{message.New(message.Human, a), message.New(message.Tool, b)})
		want := strings.Join(rest, "")
		var got strings.Builder
		for n := 0; len(rest) > 0; n++ {
			if n > len(want)+2 {
				t.Fatal("it does not come to an end")
			}
			var piece []string
			piece, rest = firstPiece(rest, size)
			got.WriteString(strings.Join(piece, ""))
		}
		if got.String() != want {
			t.Fatalf("pieces make %q of %q", got.String(), want)
		}
	})
}
