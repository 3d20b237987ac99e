package calls_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// timeline is that of a run, all of it.
func (b *bed) timeline(run store.Run) calls.Timeline {
	b.Helper()
	t, err := b.mine().Timeline(b.Context(), "t", run.ID, "", calls.MaxSteps)
	b.Must(err)
	return t
}

func (b *bed) call(run store.Run, n int) calls.Call {
	b.Helper()
	c, err := b.mine().Call(b.Context(), "t", run.ID, n)
	b.Must(err)
	return c
}

// turns has the model call a tool so many times, and then answer.
func turns(n int) func() reply {
	return func() reply {
		if n--; n >= 0 {
			return reply{text: fmt.Sprintf("step %d ", n), tool: `{"n":3}`}
		}
		return reply{text: "this is the end "}
	}
}

// went: tries, models, tokens, money, parts, and what is new.
func went(f *databases.Fixture) {
	b := newBed(f, 1)
	b.fails, b.class, b.plan = 2, model.ClassBusy, turns(2)
	run := b.run(asks("hello"))
	c := b.call(run, 1)
	f.Equal("tries", []any{len(c.Tries), c.Tries[0].Class, c.Tries[0].Model, c.Tries[2].Error, c.Of, c.Error},
		[]any{3, "busy", "bot", "", 3, ""})
	if !strings.Contains(c.Tries[1].Error, "it cannot") || c.Tries[1].Began.Before(run.CreatedAt.Add(-time.Second)) {
		f.Errorf("tries %+v", c.Tries)
	}
	f.Equal("usage", *c.Usage, calls.Usage{Input: 100, Output: 7, Cached: 25, CachedShare: 0.25})
	f.Equal("cost", *c.Cost, calls.Cost{Amount: 107, Currency: "EUR"})
	f.Equal("answer", []any{c.FinishReason, c.ToolCalls, c.New.Since, c.New.Kept},
		[]any{"tool_calls", []string{"echo"}, 0, 0})
	next := b.call(run, 2)
	f.Equal("new", []any{next.New.Since, next.New.Kept, next.New.System, next.New.Tools},
		[]any{1, len(c.Request.Messages), false, false})
	f.Equal("messages", len(next.Request.Messages), len(c.Request.Messages)+2)
	names, sum := []string{}, 0
	for _, p := range next.Parts {
		names = append(names, fmt.Sprint(p.Name, " ", p.Count > 0, " ", p.Tokens > 0))
		sum += p.Tokens
	}
	f.Equal("parts", names, []string{"system true true", "tools true true", "history true true", "results true true",
		"images false false"})

	tl := b.timeline(run)
	kinds := []string{}
	for _, s := range tl.Steps {
		kinds = append(kinds, s.Kind)
	}
	f.Equal("steps", kinds, []string{"attempt", "notice", "notice", "call", "tool", "call", "tool", "call", "end"})
	f.Equal("sums", []any{tl.Calls, tl.Tools, tl.Usage.Input, tl.Cost, tl.Attempts, tl.Next},
		[]any{3, 2, 300, []calls.Cost{{Amount: 321, Currency: "EUR"}}, 1, ""})

	b.fails, b.class, b.plan = 1, model.ClassAuth, turns(0)
	run = b.run(asks("again"))
	c = b.call(run, 1)
	f.Equal("another model", []string{c.Model, c.Tries[0].Model, c.Tries[0].Class, c.Tries[1].Model},
		[]string{"second", "bot", "auth", "second"})
	b.fails = 1
	b.halt = func() { go b.stop(store.StopInterrupt) }
	run = b.run(asks("stop"))
	c = b.call(run, 1)
	if c.Error == "" || !bytes.Contains(c.Answer, []byte("thi")) {
		f.Errorf("a call that was stopped: %q, %s", c.Error, c.Answer)
	}
	if c, err := b.mine().Call(f.Context(), "t", run.ID, 2); !errors.Is(err, store.ErrNotFound) {
		f.Errorf("%+v, %v", c, err)
	}
}

// tooLarge: what is beyond the bounds is named, and the record stays small.
func tooLarge(f *databases.Fixture) {
	b := newBed(f, 1)
	large := message.New(message.Human, strings.Repeat("x", 300<<10))
	picture := message.New(message.Human, "see")
	picture.Content = append(picture.Content, message.Part{Type: message.PartImage, URL: "data:image/png;base64," +
		strings.Repeat("A", 100<<10)})
	for name, m := range map[string]message.Message{"not quite": large, "images": picture} {
		b.plan, b.wrap = turns(1), adds{m}
		run := b.run(asks("hello"))
		c := b.call(run, 2)
		if c.Request.Exact || !strings.Contains(c.Request.Note, name) || len(c.Request.Messages) < 5 {
			f.Errorf("%d messages, %q", len(c.Request.Messages), c.Request.Note)
		}
		evs, err := f.Store.For(f.Ann()).Events(f.Context(), run.ID, event.ID{}, 1000)
		f.Must(err)
		for _, ev := range evs {
			if raw, err := ev.AppendJSON(nil); err != nil || len(raw) > 10<<10 {
				f.Errorf("an event of %d bytes, %v", len(raw), err)
			}
		}
	}
}

// fromBefore: a run whose log tells nothing of what was sent has a timeline all the same.
func fromBefore(f *databases.Fixture) {
	b := newBed(f, 1)
	b.without, b.plan = true, turns(1)
	run := b.run(asks("hello"))
	c, tl := b.call(run, 2), b.timeline(run)
	f.Equal("call", []any{c.Request.Exact, c.FinishReason, c.Usage.Input, len(c.Tries), tl.Calls},
		[]any{false, "stop", 100, 0, 2})
	if !strings.Contains(c.Request.Note, "before Pudu kept") {
		f.Error(c.Request.Note)
	}
}

func ofOthers(f *databases.Fixture) {
	b := newBed(f, 1)
	b.plan = turns(1)
	run := b.run(asks("hello"))
	bob := b.calls.For(f.Bob())
	_, err := bob.Timeline(f.Context(), "t", run.ID, "", 10)
	f.Want(err, store.ErrNotFound, run.ID)
	_, err = bob.Call(f.Context(), "t", run.ID, 1)
	f.Want(err, store.ErrNotFound, run.ID)
	_, err = b.mine().Call(f.Context(), "other", run.ID, 1)
	f.Want(err, store.ErrNotFound, run.ID)
	for _, limit := range []int{0, calls.MaxSteps + 1} {
		if _, err := b.mine().Timeline(f.Context(), "t", run.ID, "", limit); err == nil {
			f.Errorf("limit %d was taken", limit)
		}
	}
	if _, err := b.mine().Timeline(f.Context(), "t", run.ID, "x", 1); err == nil {
		f.Error("any step was taken")
	}
}

// kept: parts come back from a copy, go with their user, and age; calls go with their run.
func kept(f *databases.Fixture) {
	b := newBed(f, 1)
	b.plan = turns(1)
	run := b.run(asks("hello"))
	var dump bytes.Buffer
	_, err := f.Store.System().Dump(f.Context(), &dump)
	f.Must(err)
	if n := strings.Count(dump.String(), `"call_part"`); n != 3 {
		f.Errorf("%d parts in the copy", n)
	}
	at := time.Now()
	got, err := f.Store.System().Collect(f.Context(), store.Retention{Rows: at.Add(399 * 24 * time.Hour)})
	f.Must(err)
	f.Equal("young", got.Rows, int64(0))
	got, err = f.Store.System().Collect(f.Context(), store.Retention{Rows: at.Add(401 * 24 * time.Hour)})
	f.Must(err)
	f.Equal("old", got.Rows, int64(3))
	c := b.call(run, 1)
	if c.Request.Exact || !strings.Contains(c.Request.Note, "system prompt") || len(c.Request.Messages) != 2 {
		f.Errorf("%d messages, %q", len(c.Request.Messages), c.Request.Note)
	}
	b.restart()
	b.plan = turns(1)
	second := b.run(asks("again"))
	if c = b.call(run, 1); !c.Request.Exact { // the same parts are there again
		f.Error(c.Request.Note)
	}
	f.Must(f.Store.For(f.Ann()).DeleteRun(f.Context(), run.ID))
	_, err = b.mine().Call(f.Context(), "t", run.ID, 1)
	f.Want(err, store.ErrNotFound, run.ID)
	dump.Reset()
	_, err = f.Store.System().Dump(f.Context(), &dump)
	f.Must(err)
	gone, err := f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("deleted", gone, store.Forgotten{Threads: 1, Rows: 3})
	_, err = f.Store.System().Load(f.Context(), &dump, nil)
	f.Must(err)
	if b.check(second) != 2 {
		f.Error("the calls did not come back")
	}
	schema, err := lead.Schema(b.cfg)
	f.Must(err)
	f.Must(f.Store.System().Verify(f.Context(), schema,
		store.Visitor{Problem: func(p store.Problem) { f.Errorf("fault: %+v", p) }}))
}

// onDisk: what a call takes beside its run, of five steps and of sixty turns.
func onDisk(f *databases.Fixture) {
	size := func(without bool, thread string, runs, steps int) (n int) {
		b := newBed(f, 1)
		b.without = without
		for i := range runs {
			b.plan = turns(steps)
			req := asks(fmt.Sprintf("Please tell me about the deer number %d, and what it does in the winter.", i))
			req.ThreadID = thread
			run, err := b.manager.For(b.Ann()).Admit(b.Context(), req)
			b.Must(err)
			_, err = b.manager.Execute(b.Context(), run, nil)
			b.Must(err)
		}
		var dump bytes.Buffer
		_, err := f.Store.For(f.Ann()).DumpThread(f.Context(), thread, &dump)
		f.Must(err)
		return dump.Len()
	}
	for name, c := range map[string][2]int{"five steps": {1, 4}, "sixty turns": {60, 0}} {
		before := size(true, "without "+name, c[0], c[1])
		with := size(false, "with "+name, c[0], c[1])
		more := 100 * float64(with-before) / float64(before)
		f.Logf("%s: %d bytes, with its calls %d: %.1f %% more", name, before, with, more)
		if more > 5 {
			f.Errorf("%s: %.1f %% more", name, more)
		}
	}
}

// pages: a timeline by pages of any size is the timeline.
func pages(f *databases.Fixture) {
	b := newBed(f, 1)
	b.plan = turns(3)
	run := b.run(asks("hello"))
	whole := b.timeline(run)
	for limit := 1; limit <= len(whole.Steps); limit++ {
		var steps []calls.Step
		for next := ""; ; {
			t, err := b.mine().Timeline(f.Context(), "t", run.ID, next, limit)
			f.Must(err)
			if steps = append(steps, t.Steps...); t.Next == "" || len(steps) > 100 {
				break
			}
			next = t.Next
		}
		f.Equal(fmt.Sprint("pages of ", limit), steps, whole.Steps)
	}
}

// checkpoints: each step leads to the state that was committed with it: a call to one that ends with its answer, a tool
// to one that has its result, also where others worked beside it.
func checkpoints(f *databases.Fixture) {
	b := newBed(f, 1)
	b.plan = turns(2)
	run := b.run(asks("hello"))
	data := f.For(f.Ann())
	seen := map[string]bool{}
	for _, s := range b.timeline(run).Steps {
		if s.Kind == calls.StepAttempt {
			f.Equal("before the first step there is no state", s.Checkpoint, "")
			continue
		}
		if s.Kind == calls.StepNotice {
			continue
		}
		cp, err := data.Checkpoint(f.Context(), b.manager.Schema(), "t", s.Checkpoint)
		f.Must(err)
		msgs := agent.Messages.Get(cp.State)
		last := msgs[len(msgs)-1]
		switch s.Kind {
		case calls.StepCall:
			f.Equal("the answer is the last message", last.ID, s.Call.MessageID)
		case calls.StepTool:
			f.Equal("the result is the last message", last.ToolCallID, s.Tool.CallID)
		case calls.StepEnd:
			f.Equal("the end is that of the last call", seen[s.Checkpoint], true)
		}
		seen[s.Checkpoint] = true
	}
	f.Equal("checkpoints", len(seen), 5)
}

// spent: what runs took, by run and in all, and how full the window is.
func spent(f *databases.Fixture) {
	b := newBed(f, 1)
	b.plan = turns(1)
	first := b.run(asks("hello"))
	b.fails, b.class, b.plan = 1, model.ClassAuth, turns(0) // the other model answers, which has no price
	second := b.run(asks("again"))
	for range 2 { // the second time from memory
		s, err := b.mine().Spent(f.Context(), "t", 10)
		f.Must(err)
		f.Equal("runs", []string{s.Runs[0].RunID, s.Runs[1].RunID}, []string{second.ID, first.ID})
		f.Equal("the first", []any{s.Runs[1].Calls, s.Runs[1].Tools, s.Runs[1].Usage.Input, s.Runs[1].Cost},
			[]any{2, 1, 200, []calls.Cost{{Amount: 214, Currency: "EUR"}}})
		f.Equal("the second", []any{s.Runs[0].Calls, s.Runs[0].Usage.Cached, s.Runs[0].Cost},
			[]any{1, 25, []calls.Cost{}})
		f.Equal("all", []any{s.Usage.Input, s.Usage.Output, s.Cost, s.More},
			[]any{300, 21, []calls.Cost{{Amount: 214, Currency: "EUR"}}, false})
		f.Equal("context", *s.Context, calls.Context{RunID: second.ID, N: 1, Model: "second", Tokens: 107,
			Window: 5000})
	}
	s, err := b.mine().Spent(f.Context(), "t", 1)
	f.Must(err)
	f.Equal("one", []any{len(s.Runs), s.More, s.Usage.Input}, []any{1, true, 100})
	timeline := b.timeline(first)
	f.Equal("the timeline says the same", []any{timeline.Usage, timeline.Cost}, []any{func() calls.Usage {
		all, err := b.mine().Spent(f.Context(), "t", 10)
		f.Must(err)
		return all.Runs[1].Usage
	}(), []calls.Cost{{Amount: 214, Currency: "EUR"}}})
	none, err := b.mine().Spent(f.Context(), "none", 10)
	f.Must(err)
	f.Equal("of no thread", []any{len(none.Runs), none.Context == nil}, []any{0, true})
	if _, err := b.mine().Spent(f.Context(), "t", calls.MaxSpent+1); err == nil {
		f.Error("any number of runs is summed up")
	}
	other, err := b.calls.For(f.Bob()).Spent(f.Context(), "t", 10)
	f.Must(err)
	f.Equal("of another user", len(other.Runs), 0)
	f.Equal("the call tells the window", b.call(second, 1).Window, 5000)
}

// adds puts a message before the last one.
type adds struct{ m message.Message }

func (adds) Name() string { return "AddsMiddleware" }

func (a adds) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	changed := *req
	changed.Messages = slices.Insert(slices.Clone(req.Messages), len(req.Messages)-1, a.m)
	return next(ctx, &changed)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"f":"x","n":3,"k":"y","m":[[0,2],{"m":"{\"type\":\"human\"}"},{"r":"z"}]}`))
	f.Add([]byte(`{"v":1,"n":3,"k":"y","plain":true,"m":[]}`))
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":1,"m":[[9223372036854775807,9223372036854775807]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		form, err := calls.Reparse(raw)
		if err != nil {
			return
		}
		again, err := calls.Reparse(form)
		if err != nil || !json.Valid(form) || !slices.Equal(form, again) {
			t.Errorf("%s becomes %s, %v", form, again, err)
		}
	})
}

// below: a run that another has started has calls of its own, which are found by its id.
func below(f *databases.Fixture) {
	b := newBed(f, 1)
	n := 0
	b.plan = func() reply {
		n++
		if n == 1 {
			return reply{text: "give it away ", tool: "{}", name: "below"}
		}
		return reply{text: fmt.Sprintf("done %d ", n)}
	}
	run := b.run(asks("hello"))
	children := []string{}
	for _, s := range b.timeline(run).Steps {
		if s.Kind == calls.StepRun {
			children = append(children, s.RunID)
		}
	}
	if len(children) != 1 || b.check(run) != 2 {
		f.Fatalf("children %q of %+v", children, b.timeline(run))
	}
	child, err := f.Store.For(f.Ann()).Run(f.Context(), children[0])
	f.Must(err)
	if b.check(child) != 1 {
		f.Error("the calls of the run below are not told")
	}
	_, err = b.mine().Call(f.Context(), "t", child.ID, 1)
	f.Want(err, store.ErrNotFound, child.ID)
}
