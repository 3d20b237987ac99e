package dynamiccontext

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// fakeModel answers "done", or fails if told so, and keeps the requests.
type fakeModel struct {
	requests [][]message.Message
	fail     bool
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	f.requests = append(f.requests, req.Messages)
	return func(yield func(message.Chunk, error) bool) {
		if f.fail {
			yield(message.Chunk{}, context.DeadlineExceeded)
			return
		}
		yield(message.Chunk{Text: "done", FinishReason: "stop"}, nil)
	}
}

var saturday = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// thread runs turns, one after the other.
type thread struct {
	t     *testing.T
	model *fakeModel
	s     state.State
	runs  int
	cfg   Config
}

func newThread(t *testing.T, past ...message.Message) *thread {
	t.Helper()
	s, _, err := state.State{}.Apply(agent.Messages.Append(past...))
	if err != nil {
		t.Fatal(err)
	}
	return &thread{t: t, model: &fakeModel{}, s: s}
}

// turn runs one turn at a time with the input, and returns the messages after it as lines.
func (th *thread) turn(now time.Time, input ...message.Message) []string {
	th.t.Helper()
	a, err := agent.New(agent.Config{Model: th.model}, New(th.cfg))
	if err != nil {
		th.t.Fatal(err)
	}
	th.runs++
	ids := 0
	newID := func() string { ids++; return fmt.Sprintf("new%d.%d", th.runs, ids) }
	update, err := agent.AddMessages(th.s, input, newID)
	if err != nil {
		th.t.Fatal(err)
	}
	rt := &agent.Runtime{RunID: fmt.Sprint("r", th.runs), Now: func() time.Time { return now }, NewID: newID,
		Input: update}
	if th.s, err = a.Run(th.t.Context(), rt, th.s); err != nil && !th.model.fail {
		th.t.Fatal(err)
	}
	return lines(agent.Messages.Get(th.s))
}

func lines(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		text := m.Text()
		if day, ok := conversation.DateOf(m); ok && text == conversation.DateText(day) && conversation.Hidden(m) {
			m.ID, text = "date", day
		}
		line := string(m.Role) + " " + m.ID + " " + text
		if m.Role == message.AI {
			line = "ai"
		}
		out = append(out, line)
	}
	return out
}

func human(id, text string) message.Message {
	m := message.New(message.Human, text)
	m.ID = id
	return m
}

func ai() message.Message {
	m := message.New(message.AI, "done")
	m.ID = "old-answer"
	return m
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFirstTurnTellsTheDate(t *testing.T) {
	th := newThread(t)
	in := human("x", "hello")
	in.Name, in.Kwargs = "user-input", message.Fields{"files": []byte("[]")}
	check(t, th.turn(saturday, in), "human x hello", "system date 2026-11-21, Saturday", "ai")
	check(t, lines(th.model.requests[0]), "human x hello", "system date 2026-11-21, Saturday")
	msgs := agent.Messages.Get(th.s)
	if got, want := msgs[1].Text(),
		"<system-reminder>\n<current_date>2026-11-21, Saturday</current_date>\n</system-reminder>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	day, mark := string(msgs[1].Kwargs["reminder_date"]), string(msgs[1].Kwargs["dynamic_context_reminder"])
	if day != `"2026-11-21, Saturday"` || mark != "true" {
		t.Errorf("kwargs %s", msgs[1].Kwargs)
	}
	if msgs[0].Name != "user-input" || string(msgs[0].Kwargs["files"]) != "[]" {
		t.Errorf("the user's message became %+v", msgs[0])
	}
}

// TestChangedDayIsAppended: a new day is told behind the newest message, never where the first date stands, so that
// nothing that was sent changes.
func TestChangedDayIsAppended(t *testing.T) {
	th := newThread(t)
	th.turn(saturday, human("x", "one"))
	th.turn(saturday.Add(11*time.Hour), human("y", "two"))
	check(t, th.turn(saturday.Add(12*time.Hour), human("z", "three")),
		"human x one", "system date 2026-11-21, Saturday", "ai", "human y two", "ai",
		"human z three", "system date 2026-11-22, Sunday", "ai")
	for i, next := range th.model.requests[1:] {
		if diff := cmp.Diff(th.model.requests[i], next[:len(th.model.requests[i])]); diff != "" {
			t.Errorf("request %d does not begin as the one before it: %s", i+1, diff)
		}
	}
}

func TestDayIsThatOfTheZone(t *testing.T) {
	th := newThread(t)
	check(t, th.turn(saturday.In(time.FixedZone("far east", 13*3600)), human("x", "hello")), "human x hello",
		"system date 2026-11-22, Sunday", "ai")
}

// TestOldHistoryWithoutDate: the newest turn gets the date, not the first one of a thread that began without.
func TestOldHistoryWithoutDate(t *testing.T) {
	th := newThread(t, human("a", "old"), ai())
	check(t, th.turn(saturday, human("x", "new")),
		"human a old", "ai", "human x new", "system date 2026-11-21, Saturday", "ai")
}

// TestRunWithoutNewInput: an old turn is left alone.
func TestRunWithoutNewInput(t *testing.T) {
	th := newThread(t, human("a", "old"), ai())
	check(t, th.turn(saturday), "human a old", "ai", "ai")
	check(t, newThread(t).turn(saturday), "ai")
}

// TestDatedMessageIsNotMovedAgain: one that may have been sent keeps its place.
func TestDatedMessageIsNotMovedAgain(t *testing.T) {
	th := newThread(t)
	th.model.fail = true
	check(t, th.turn(saturday, human("x", "hello")), "human x hello", "system date 2026-11-21, Saturday")
	th.model.fail = false
	check(t, th.turn(saturday.Add(24*time.Hour)),
		"human x hello", "system date 2026-11-21, Saturday", "system date 2026-11-22, Sunday", "ai")
	if diff := cmp.Diff(th.model.requests[0], th.model.requests[1][:2]); diff != "" {
		t.Error(diff)
	}
}

// TestMessageOfAFailedRunIsNotMoved: it was sent, and the next day's run begins with it.
func TestMessageOfAFailedRunIsNotMoved(t *testing.T) {
	th := newThread(t)
	th.turn(saturday, human("x", "one"))
	th.model.fail = true
	th.turn(saturday, human("y", "two"))
	th.model.fail = false
	check(t, th.turn(saturday.Add(24*time.Hour)),
		"human x one", "system date 2026-11-21, Saturday", "ai", "human y two", "system date 2026-11-22, Sunday", "ai")
	if diff := cmp.Diff(th.model.requests[1], th.model.requests[2][:4]); diff != "" {
		t.Error(diff)
	}
}

// TestClientSendsItsMessagesAgain: a message that comes again stays behind its date.
func TestClientSendsItsMessagesAgain(t *testing.T) {
	th := newThread(t)
	th.turn(saturday, human("x", "one"))
	check(t, th.turn(saturday, human("x", "one"), human("y", "two")),
		"human x one", "system date 2026-11-21, Saturday", "ai", "human y two", "ai")
}

func TestSeveralMessagesOfOneInput(t *testing.T) {
	side := conversation.Note("s", "", "context")
	check(t, newThread(t).turn(saturday, side, human("x", "question")),
		"human do-not-render-s context", "human x question", "system date 2026-11-21, Saturday", "ai")
	check(t, newThread(t).turn(saturday, human("x", "question"), side),
		"human x question", "human do-not-render-s context", "system date 2026-11-21, Saturday", "ai")
}

// TestDateInOtherWordsIsNone: neither a memory nor a client can tell the program that the date is known.
func TestDateInOtherWordsIsNone(t *testing.T) {
	words := conversation.DateText("2026-11-21, Saturday")
	forged := conversation.DateMessage("c", "2026-11-21, Saturday")
	memory := human("m", "<memory>"+words+"</memory>")
	got := newThread(t, memory, ai()).turn(saturday, forged, human("x", "hello"))
	check(t, got[2:], "system do-not-render-c "+words, "human x hello", "system date 2026-11-21, Saturday", "ai")
}

// TestSecondRunOfTheHook: after a crash it runs on what it did itself.
func TestSecondRunOfTheHook(t *testing.T) {
	th := newThread(t, human("x", "hello"))
	rt := &agent.Runtime{Now: func() time.Time { return saturday }, NewID: func() string { return "new" }}
	for range 2 {
		cmd, err := New(Config{}).BeforeAgent(t.Context(), rt, th.s)
		if err != nil {
			t.Fatal(err)
		}
		if th.s, _, err = th.s.Apply(cmd.Update); err != nil {
			t.Fatal(err)
		}
		check(t, lines(agent.Messages.Get(th.s)), "human x hello", "system date 2026-11-21, Saturday")
	}
}

// TestToolboxIsToldOnceAndWhenItChanges: behind all that was sent, never in its place.
func TestToolboxIsToldOnceAndWhenItChanges(t *testing.T) {
	th := newThread(t)
	note := func(text string) string { return "human note <system-reminder>\n" + text + "\n</system-reminder>" }
	check(t, th.turn(saturday, human("x", "one")), "human x one", "system date 2026-11-21, Saturday", "ai")
	th.cfg.Toolbox = "has a and b."
	th.turn(saturday, human("y", "two"))
	th.turn(saturday, human("z", "three"))
	th.cfg.Toolbox = "has a, b and c."
	th.turn(saturday, human("u", "four"))
	th.cfg.Toolbox = ""
	th.turn(saturday, human("v", "five"))
	got := th.turn(saturday, human("w", "six"))
	for i, m := range agent.Messages.Get(th.s) {
		if conversation.IsNote(m, NoteName) {
			got[i] = "human note " + m.Text()
		}
	}
	check(t, got, "human x one", "system date 2026-11-21, Saturday", "ai",
		"human y two", note("has a and b."), "ai", "human z three", "ai",
		"human u four", note("has a, b and c."), "ai",
		"human v five", note("python3 in the sandbox has its standard library alone now."), "ai", "human w six", "ai")
	for i, next := range th.model.requests[1:] {
		if diff := cmp.Diff(th.model.requests[i], next[:len(th.model.requests[i])]); diff != "" {
			t.Errorf("request %d does not begin as the one before it: %s", i+1, diff)
		}
	}
}

// TestToolboxOutOfSightIsToldAgain: what a compaction has hidden is not known any more.
func TestToolboxOutOfSightIsToldAgain(t *testing.T) {
	th := newThread(t)
	th.cfg = Config{Toolbox: "has a."}
	th.turn(saturday, human("x", "one"))
	msgs := agent.Messages.Get(th.s)
	var err error
	if th.s, _, err = th.s.Apply(compaction.Channel.Put(compaction.Compaction{Upto: msgs[len(msgs)-1].ID})); err != nil {
		t.Fatal(err)
	}
	th.turn(saturday, human("y", "two"))
	th.turn(saturday, human("z", "three"))
	n := 0
	for _, m := range agent.Messages.Get(th.s) {
		if conversation.IsNote(m, NoteName) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("it was told %d times", n)
	}
}
