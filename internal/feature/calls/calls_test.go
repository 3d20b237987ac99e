package calls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func TestCalls(t *testing.T) {
	databases.Run(t, []database.Feature{calls.Feature()}, []databases.Case{
		{Name: "requests are rebuilt whatever happens", Test: anything}, {Name: "how a call went", Test: went},
		{Name: "what is too large", Test: tooLarge}, {Name: "runs from before", Test: fromBefore},
		{Name: "of others", Test: ofOthers}, {Name: "copied, restored, deleted, aged", Test: kept},
		{Name: "what it takes on disk", Test: onDisk}, {Name: "pages", Test: pages}, {Name: "runs below", Test: below},
		{Name: "checkpoints", Test: checkpoints}, {Name: "spent", Test: spent},
	})
}

// anything: turns, tools, retries, other models, compactions, edits, branches, cancels, rollbacks, deaths of the
// process, middlewares that change what is sent. Each request of the log is what the model received.
func anything(f *databases.Fixture) {
	total := 0
	for seed := range uint64(2) {
		b := newBed(f, seed+1)
		if seed > 0 {
			b.wrap = &odd{Rand: b.rand}
		}
		f.Must(f.Store.For(f.Ann()).CreateThread(f.Context(), store.Thread{ID: "t"}))
		for range 25 {
			b.step()
		}
		f.Reopen()
		b.restart()
		compacted := false
		for _, run := range b.all() {
			total += b.check(run)
			tl, err := b.mine().Timeline(f.Context(), "t", run.ID, "", calls.MaxSteps)
			f.Must(err)
			for _, s := range tl.Steps {
				compacted = compacted || s.Kind == calls.StepCompaction
			}
		}
		if !compacted {
			f.Errorf("seed %d: nothing was compacted", seed)
		}
		f.Must(f.Store.For(f.Ann()).DeleteThread(f.Context(), "t"))
	}
	if total < 40 {
		f.Errorf("only %d calls", total)
	}
}

// step does one thing to the thread.
func (b *bed) step() {
	b.Helper()
	texts := []string{
		"hello", "take <system>this</system> away", "--- BEGIN USER INPUT ---\nx", strings.Repeat("long words ", 50),
		"", "\x00odd\xff",
	}
	req := asks(texts[b.rand.IntN(len(texts))] + fmt.Sprint(b.rand.IntN(100)))
	switch b.rand.IntN(12) {
	case 0:
		b.fails, b.class = 1+b.rand.IntN(2), model.ClassTransient
	case 1:
		b.fails, b.class = 1, model.ClassAuth // the other model answers
	case 2:
		b.fails, b.class = 20, model.ClassTransient // nobody does
	case 3:
		req.Checkpoint = b.somewhere()
	case 4:
		b.edit()
		return
	case 5:
		b.halt = func() { go b.manager.Stop() }
	case 6, 7:
		action := []string{store.StopInterrupt, store.StopRollback}[b.rand.IntN(2)]
		b.halt = func() { go b.stop(action) }
	case 8:
		picture := message.New(message.Human, "look")
		picture.Content = append(picture.Content,
			message.Part{Type: message.PartImage, URL: "https://example.com/x.png"})
		req.Input = append(req.Input, picture, message.New(message.System, "Be <b>brief</b>."))
	case 9:
		req.MaxSteps = 2
	}
	b.run(req)
	b.fails, b.halt = 0, nil
}

// stop ends the active run.
func (b *bed) stop(action string) {
	list, err := b.Store.For(b.Ann()).
		ListRuns(b.Context(), store.RunFilter{ThreadID: "t", Statuses: []string{event.StatusRunning}})
	for _, run := range list {
		if err == nil {
			_, err = b.manager.For(b.Ann()).Cancel(b.Context(), run.ID, action)
		}
	}
	if err != nil {
		b.Error(err)
	}
}

// somewhere is a checkpoint of the thread.
func (b *bed) somewhere() string {
	b.Helper()
	list, err := b.Store.For(b.Ann()).Checkpoints(b.Context(), "t", "", 1000)
	b.Must(err)
	if len(list) == 0 {
		return ""
	}
	return list[b.rand.IntN(len(list))].ID
}

// edit changes or removes a message of the thread.
func (b *bed) edit() {
	b.Helper()
	snap, err := b.manager.For(b.Ann()).Snapshot(b.Context(), "t", "")
	b.Must(err)
	msgs := agent.Messages.Get(snap.State)
	if len(msgs) == 0 {
		return
	}
	m := msgs[b.rand.IntN(len(msgs))]
	if b.rand.IntN(2) == 0 {
		m = message.Message{ID: m.ID, Role: message.Remove}
	} else {
		m.Content = []message.Part{message.Text("edited")}
	}
	_, err = b.manager.For(b.Ann()).UpdateState(b.Context(), "t", runs.StateUpdate{Messages: []message.Message{m}})
	b.Must(err)
}
