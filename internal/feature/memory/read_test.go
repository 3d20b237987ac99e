package memory_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func TestReading(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), pgtest.Kept())
	databases.Run(t, feature.All(), []databases.Case{
		{Name: "learns", Test: learns}, {Name: "contradictions", Test: contradicts},
		{Name: "failures", Test: readingFails}, {Name: "nothing", Test: learnsNothing},
		{Name: "rolled back", Test: rolledBack}, {Name: "gone threads", Test: threadIsGone},
		{Name: "proposed in its place", Test: proposedInItsPlace}, {Name: "written meanwhile", Test: writtenMeanwhile},
		{Name: "what it takes", Test: spends}, {Name: "shown of many", Test: showsWhatMatters},
		{Name: "undone beside a twin", Test: undoneBesideATwin},
	})
}

// reader is a store in which conversations are read, by a model that is played.
type reader struct {
	*databases.Fixture

	set    config.Memory
	all    *memory.Memory
	mine   *memory.Mine
	runner *job.Runner

	mu      sync.Mutex
	clock   time.Time
	talk    memory.Talk
	answers []string // of the model, one after the other
	asked   []string
	during  func() // while the model thinks
	left    func() // while it is decided, when something is left out
	said    []string
	tries   int
	done    []access.User // whose pages are told
}

var _ model.ChatModel = (*reader)(nil)

func newReader(f *databases.Fixture) *reader {
	f.Helper()
	r := &reader{Fixture: f, set: config.Default().Memory, clock: time.UnixMicro(1_900_000_000_000_000)}
	r.talk.Model = r
	r.all = memory.New(memory.Config{Store: f.Store, Settings: func() config.Memory { return r.set }, Now: r.now})
	r.mine = r.all.For(f.Ann())
	f.Must(f.For(f.Ann()).CreateThread(f.Context(), store.Thread{ID: "t", Title: "Tea"}))
	read := &memory.Reader{Memory: r.all, Talk: func(_ context.Context, u access.User, thread string) (memory.Talk,
		error) {
		if u != f.Ann() || thread != "t" {
			return memory.Talk{}, store.ErrNotFound
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.talk, nil
	}, Left: func(access.User, string, map[string]int) {
		if r.left != nil {
			r.left()
		}
	}, Done: func(u access.User) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done = append(r.done, u)
	}}
	r.runner = job.New(job.Config{
		Store: f.Store, Owner: "me", Kinds: read.Kinds(), Now: r.now,
		Spread: func(d time.Duration) time.Duration { return d },
		Observe: func(_, outcome string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.said = append(r.said, outcome)
		},
	})
	_, err := f.System().Renew(f.Context(), "me")
	f.Must(err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	var done sync.WaitGroup
	done.Go(func() { r.runner.Work(ctx) })
	f.Cleanup(func() { cancel(); done.Wait() })
	return r
}

func (r *reader) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = r.clock.Add(time.Millisecond)
	return r.clock
}

// Name implements [model.ChatModel].
func (*reader) Name() string { return "test/reader" }

// Stream implements [model.ChatModel].
func (r *reader) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	r.mu.Lock()
	r.asked = append(r.asked, req.Messages[0].Text())
	answer, during := "{}", r.during
	if len(r.answers) > 0 {
		answer, r.answers = r.answers[0], r.answers[1:]
	}
	r.mu.Unlock()
	if during != nil {
		during()
	}
	return func(yield func(message.Chunk, error) bool) {
		if answer == "fail" {
			yield(message.Chunk{}, errors.New("the model is down"))
			return
		}
		used := &message.Usage{InputTokens: 70, OutputTokens: 7, TotalTokens: 77}
		yield(message.Chunk{Text: answer, FinishReason: "stop", Usage: used}, nil)
	}
}

// hear adds to the conversation: lines of who and what.
func (r *reader) hear(lines ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range lines {
		who, text, _ := strings.Cut(l, ": ")
		m := message.New(map[string]message.Role{"human": message.Human, "ai": message.AI, "tool": message.Tool}[who],
			text)
		m.ID = fmt.Sprintf("m%d", len(r.talk.Messages))
		r.talk.Messages = append(r.talk.Messages, m)
	}
}

// read has a run ask for the thread to be read, and waits for what comes of it.
func (r *reader) read(answers ...string) string {
	r.Helper()
	r.mu.Lock()
	r.answers, r.asked = answers, nil
	before := len(r.said)
	r.tries++
	id := fmt.Sprint("asker", r.tries)
	r.mu.Unlock()
	r.ask(id, "memory-read")
	return r.outcome(before)
}

// ask has a run ask for a job.
func (r *reader) ask(id, kind string) {
	r.Helper()
	_, err := r.For(r.Ann()).Admit(r.Context(), store.Admission{
		Thread: store.Thread{ID: id}, Run: store.Run{ID: id, ThreadID: id, Owner: "me", CreatedAt: r.now()}})
	r.Must(err)
	_, err = r.System().Commit(r.Context(), store.Fence{RunID: id, Attempt: 1},
		store.Step{Jobs: []store.NewJob{{Kind: kind, Key: "t"}}, Now: r.now()})
	r.Must(err)
}

// later is an hour later: what waits for its next try has it.
func (r *reader) later(answer string) {
	r.Helper()
	r.mu.Lock()
	r.answers, r.clock = []string{answer}, r.clock.Add(time.Hour)
	r.tries++
	id := fmt.Sprint("asker", r.tries)
	r.mu.Unlock()
	r.ask(id, "nobody's") // which wakes the runner
}

// outcome waits for the next outcome of a job.
func (r *reader) outcome(before int) string {
	r.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		r.mu.Lock()
		if len(r.said) > before {
			defer r.mu.Unlock()
			return r.said[before]
		}
		r.mu.Unlock()
		if time.Now().After(end) {
			r.Fatal("the thread is not read")
		}
	}
}

// one is an answer with one new fact.
func one(content, quote, more string) string {
	return fmt.Sprintf(`{"newFacts":[{"content":%q,"quote":%q,"category":"preference","confidence":0.9,"scope":"user","durability":"durable","authority":"descriptive"}]%s}`, content, quote, more)
}

func learns(f *databases.Fixture) {
	r := newReader(f)
	r.hear("human: I like green tea. What is it good for?", "ai: Health.")
	f.Equal("read", r.read(one("Likes green tea", "I like green tea", "")), "done")
	f.Equal("facts", contents(f, r.mine), "Likes green tea")
	list, err := r.mine.Facts(f.Context(), memory.Active, "", 10)
	f.Must(err)
	story, err := r.mine.Story(f.Context(), list[0].ID)
	f.Must(err)
	f.Equal("source", []string{story.Fact.Source, story.Fact.Thread, story.Sources[0].Words, story.Sources[0].Message,
		story.Sources[0].Title},
		[]string{memory.Conversation, "t", "I like green tea.", "m0", "Tea"})
	f.Equal("read again", r.read(), "done")
	f.Equal("asked about nothing new", len(r.asked), 0)
	r.hear("human: And I live in Lund.", "ai: Nice.")
	f.Equal("read on", r.read(one("Lives in Lund", "I live in Lund", "")), "done")
	f.Equal("facts", contents(f, r.mine), "Likes green tea, Lives in Lund")
	if len(r.asked) != 1 || strings.Contains(r.asked[0], "What is it good for") ||
		!strings.Contains(r.asked[0], `"content":"Likes green tea"`) ||
		!strings.Contains(r.asked[0], "identity") {
		f.Errorf("asked: %q", r.asked)
	}
	n, err := r.mine.Undo(f.Context())
	f.Must(err)
	f.Equal("undone", fmt.Sprint(n, contents(f, r.mine)), "1Likes green tea")
	_, err = r.mine.Undo(f.Context())
	f.Must(err)
	_, err = r.mine.Undo(f.Context())
	f.Want(err, store.ErrNotFound, "")
	f.Equal("not read again", r.read(), "done")
	f.Equal("facts", contents(f, r.mine), "")
	bobs, err := r.all.For(f.Bob()).Facts(f.Context(), "", "", 10)
	f.Must(err)
	f.Equal("another's", len(bobs), 0)
	f.Sound()
}

func contradicts(f *databases.Fixture) {
	r := newReader(f)
	old, err := r.mine.Add(f.Context(), fact("Lives in Rome", "identity"))
	f.Must(err)
	cat, err := r.mine.Add(f.Context(), fact("Has a cat", ""))
	f.Must(err)
	removal := fmt.Sprintf(`,"factsToRemove":[{"id":%q,"scope":"user","reason":"moved","replacementFactIndex":0},{"id":%q,"scope":"user","reason":"hm"}]`, old.ID, cat.ID)
	answer := one("Lives in Lund", "I live in Lund now", removal)
	r.hear("human: I live in Lund now.", "ai: Since when?")
	f.Equal("nothing is untrue", r.read(answer, `{"untrue":[]}`), "done")
	f.Equal("both stay", contents(f, r.mine), "Has a cat, Lives in Lund, Lives in Rome")
	if len(r.asked) != 2 || !strings.Contains(r.asked[1], "1. Old: Lives in Rome\n   New: Lives in Lund") ||
		!strings.Contains(r.asked[1], "I live in Lund now.") {
		f.Errorf("asked: %q", r.asked)
	}
	_, err = r.mine.Undo(f.Context())
	f.Must(err)

	r.hear("human: I do live in Lund now, I said.", "ai: Yes.")
	f.Equal("one is", r.read(one("Now lives in Lund", "I do live in Lund now", removal), "So: {\"untrue\": [1, 7]}"),
		"done")
	f.Equal("new beats old", contents(f, r.mine), "Has a cat, Now lives in Lund")
	got, err := r.mine.Fact(f.Context(), old.ID)
	f.Must(err)
	f.Equal("old", got.Status, memory.Gone)
	history, err := r.mine.History(f.Context(), "", 0, 2)
	f.Must(err)
	f.Equal("history", []string{history[0].Act, history[0].Before.Content, history[1].Act, history[1].After.Replaces},
		[]string{memory.ActReplaced, "Lives in Rome", memory.ActAdded, old.ID})
	n, err := r.mine.Undo(f.Context())
	f.Must(err)
	f.Equal("undone", fmt.Sprint(n, contents(f, r.mine)), "2Has a cat, Lives in Rome")
}

func readingFails(f *databases.Fixture) {
	r := newReader(f)
	r.hear("human: I like green tea.", "ai: Noted.")
	f.Equal("first", r.read("fail"), "failed")
	for i, answer := range []string{"no JSON", "fail", "{"} {
		r.later(answer)
		f.Equal("again", r.outcome(i+1), "failed")
	}
	r.later("fail")
	f.Equal("at last", r.outcome(4), "dead")
	list, err := job.NewQueue(f.Store).List(f.Context(), job.Filter{Dead: true})
	f.Must(err)
	f.Equal("kept with its reason",
		fmt.Sprint(len(list), list[0].Kind, strings.Contains(list[0].Error, "the model is down")), "1memory-readtrue")
	n, err := job.NewQueue(f.Store).Retry(f.Context(), "memory-read", "t", "")
	f.Must(err)
	f.Equal("asked for anew", n, int64(1))
	r.later(one("Likes green tea", "I like green tea", ""))
	f.Equal("done after all", r.outcome(5), "done")
	f.Equal("facts", contents(f, r.mine), "Likes green tea")
}

func learnsNothing(f *databases.Fixture) {
	r := newReader(f)
	known, err := r.mine.Add(f.Context(), fact("Has a cat", ""))
	f.Must(err)
	note, err := r.mine.Note(f.Context(), "t", "", memory.Last{})
	f.Must(err)
	msg, err := note.Message("n", "run")
	f.Must(err)
	answer := one("Likes green tea", "I like green tea", "")
	for what, change := range map[string]func(){
		"an agent without a memory": func() { r.talk.Off = true },
		"the demonstration":         func() { r.talk.Model = nil },
		"tools":                     func() { r.set.Mode = "tool" },
		"switched off":              func() { r.set.Enabled = false },
		"noop":                      func() { r.set.Manager = "noop" },
	} {
		r.mu.Lock()
		r.talk, r.set = memory.Talk{Model: r, Messages: r.talk.Messages}, config.Default().Memory
		change()
		r.mu.Unlock()
		r.hear("human: I like green tea.", "ai: Noted.")
		f.Equal(what, r.read(answer), "done")
		f.Equal(what, contents(f, r.mine), "Has a cat")
	}
	r.mu.Lock()
	r.talk, r.set = memory.Talk{Model: r, Messages: append(r.talk.Messages, msg)}, config.Default().Memory
	r.mu.Unlock()
	r.hear("human: ok, thanks!", "ai: You are welcome.")
	f.Equal("thanks", r.read(answer), "done")
	f.Equal("asked", len(r.asked), 0)
	story, err := r.mine.Story(f.Context(), known.ID)
	f.Must(err)
	f.Equal("used", fmt.Sprint(len(story.Uses), story.Uses[0].Thread, story.Fact.Uses, story.Fact.UsedAt.IsZero()),
		"1t1 false")

	_, err = f.For(f.Ann()).PatchThread(f.Context(), "t", store.ThreadPatch{Set: store.Temporary})
	f.Must(err)
	r.hear("human: I like green tea.", "ai: Noted.")
	f.Equal("temporary", r.read(answer), "done")
	f.Equal("asked", len(r.asked), 0)
}

// rolledBack: what was taken back before it was read is not learned, and what was read before it is not read again.
func rolledBack(f *databases.Fixture) {
	r := newReader(f)
	r.hear("human: I like green tea.", "ai: Noted.")
	f.Equal("read", r.read(one("Likes green tea", "I like green tea", "")), "done")
	r.hear("human: I like coffee.", "ai: Noted.")
	f.Equal("read", r.read(), "done")
	r.mu.Lock()
	r.talk.Messages = r.talk.Messages[:2]
	r.mu.Unlock()
	r.hear("human: I like water.", "ai: Noted.")
	r.mu.Lock()
	for i := range r.talk.Messages[2:] {
		r.talk.Messages[2+i].ID += " of another branch"
	}
	r.mu.Unlock()
	f.Equal("read", r.read(one("Likes water", "I like water", "")), "done")
	f.Equal("facts", contents(f, r.mine), "Likes green tea, Likes water")
	if len(r.asked) != 1 || strings.Contains(r.asked[0], "coffee") ||
		strings.Contains(r.asked[0], "Person: I like green tea") {
		f.Errorf("asked: %q", r.asked)
	}
}

func threadIsGone(f *databases.Fixture) {
	r := newReader(f)
	r.hear("human: I like green tea.", "ai: Noted.")
	f.Equal("read", r.read(one("Likes green tea", "I like green tea", "")), "done")
	r.mu.Lock()
	r.during = func() { // while the model thinks
		f.Must(f.For(f.Ann()).DropThread(f.Context(), "t", func(store.Thread) bool { return true }))
	}
	r.mu.Unlock()
	r.hear("human: I live in Lund.", "ai: Noted.")
	r.read(one("Lives in Lund", "I live in Lund", ""))
	list, err := r.mine.Facts(f.Context(), "", "", 10)
	f.Must(err)
	for _, x := range list {
		story, err := r.mine.Story(f.Context(), x.ID)
		f.Must(err)
		f.Equal("its words go with the thread", len(story.Sources), 0)
	}
	f.Equal("facts stay", strings.HasPrefix(contents(f, r.mine), "Likes green tea"), true)
	n, err := r.mine.ForgetThread(f.Context(), "t")
	f.Must(err)
	f.Equal("until one asks to forget them", fmt.Sprint(n, contents(f, r.mine)), fmt.Sprint(len(list)))
	f.Sound()
}

// proposedInItsPlace: a fact that waits for a yes takes the place of another once it has that.
func proposedInItsPlace(f *databases.Fixture) {
	r := newReader(f)
	old, err := r.mine.Add(f.Context(), fact("Sails in Lund", ""))
	f.Must(err)
	r.hear("human: What does the page say?", "tool: Vera sails in Malmö", "ai: That you sail in Malmö.")
	removal := fmt.Sprintf(`,"factsToRemove":[{"id":%q,"scope":"user","replacementFactIndex":0}]`, old.ID)
	f.Equal("read", r.read(one("Sails in Malmö", "sails in Malmö", removal), `{"untrue":[1]}`), "done")
	f.Equal("before", contents(f, r.mine), "Sails in Lund")
	list, err := r.mine.Facts(f.Context(), memory.Proposed, "", 10)
	f.Must(err)
	f.Equal("proposed", fmt.Sprint(len(list), list[0].Content, list[0].Mark, list[0].Replaces == old.ID),
		"1Sails in Malmötooltrue")
	_, err = r.mine.Accept(f.Context(), list[0].ID)
	f.Must(err)
	f.Equal("after", contents(f, r.mine), "Sails in Malmö")
	_, err = r.mine.Restore(f.Context(), old.ID)
	f.Must(err)
	r.hear("human: And that page?", "tool: Vera skis in Åre", "ai: Skiing.")
	f.Equal("read", r.read(one("Skis in Åre", "skis in Åre", "")), "done")
	list, err = r.mine.Facts(f.Context(), memory.Proposed, "", 10)
	f.Must(err)
	_, err = r.mine.Refuse(f.Context(), list[0].ID)
	f.Must(err)
	r.hear("human: And this one?", "tool: Vera skis in Åre", "ai: Skiing.")
	f.Equal("read", r.read(one("Skis in Åre", "skis in Åre", "")), "done")
	list, err = r.mine.Facts(f.Context(), memory.Proposed, "", 10)
	f.Must(err)
	f.Equal("not proposed again", len(list), 0)
}

// writtenMeanwhile: a fact that a person writes while the model thinks is not lost, nor is what the model says.
func writtenMeanwhile(f *databases.Fixture) {
	r := newReader(f)
	r.during = func() {
		_, err := r.mine.Add(f.Context(), fact("Written by hand", ""))
		f.Must(err)
	}
	r.hear("human: I like green tea.", "ai: Noted.")
	f.Equal("read", r.read(one("Likes green tea", "I like green tea", "")), "done")
	f.Equal("facts", contents(f, r.mine), "Likes green tea, Written by hand")

	// Between the decision and its write, as another thread of the user may: it is decided again, and the model is not
	// asked again.
	r.during, r.left = nil, func() {
		r.left = nil
		_, err := r.mine.Add(f.Context(), fact("Likes black tea", ""))
		f.Must(err)
	}
	r.hear("human: I like black tea, and white tea.", "ai: Noted.")
	more := strings.Replace(one("Likes white tea", "white tea", ""), "[{",
		`[{"content":"Likes black tea","scope":"task"},{`, 1)
	f.Equal("read", r.read(more), "done")
	f.Equal("facts", contents(f, r.mine), "Likes black tea, Likes green tea, Likes white tea, Written by hand")
	f.Equal("the model was asked", len(r.asked), 1)
}

// TestAfter: what follows the end of a run.
func TestAfter(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	set := config.Default().Memory
	jobs := memory.After(set)(store.Run{ThreadID: "t", UpdatedAt: at})
	if len(jobs) != 1 || jobs[0].Key != "t" || jobs[0].NotBefore.Sub(at) != 30*time.Second ||
		jobs[0].Latest.Sub(at) != 10*time.Minute {
		t.Errorf("%+v", jobs)
	}
	if jobs := memory.After(set)(store.Run{ThreadID: "t", Parent: "r"}); len(jobs) != 0 {
		t.Errorf("a run below another one: %+v", jobs)
	}
	set.Enabled = false
	if jobs := memory.After(set)(store.Run{ThreadID: "t"}); len(jobs) != 0 {
		t.Errorf("switched off: %+v", jobs)
	}
}
