package crash

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
)

// watched is a worker's store. It prints a mark for every write of the run, and is where a worker kills itself.
type watched struct {
	*sqlstore.Store
	die *death
}

var (
	_ store.Store  = (*watched)(nil)
	_ store.System = (*watched)(nil)
)

// For implements [store.Store].
func (w *watched) For(u access.User) store.UserData { return &watchedUser{w.Store.For(u), w} }

// System implements [store.Store].
func (w *watched) System() store.System { return w }

// watchedUser is what the worker's user has.
type watchedUser struct {
	store.UserData
	w *watched
}

// Admit implements [store.Runs].
func (u *watchedUser) Admit(ctx context.Context, a store.Admission) (r store.Run, err error) {
	err = u.w.write([]string{"admit"}, commitNote, func() error {
		r, err = u.UserData.Admit(ctx, a)
		if err == nil {
			u.w.die.claimed(1)
			say(markAttempt, "1", "1")
		}
		return err
	})
	return r, err
}

// ClaimRun implements [store.Work].
func (w *watched) ClaimRun(ctx context.Context, id, owner string, attempt int,
	now time.Time) (f store.Fence, err error) {
	err = w.write([]string{"claim"}, commitNote, func() error {
		if f, err = w.Store.ClaimRun(ctx, id, owner, attempt, now); err != nil {
			return err
		}
		stalled, err := w.stalled(ctx, id)
		w.die.claimed(stalled)
		say(markAttempt, strconv.Itoa(f.Attempt), strconv.Itoa(stalled))
		return err
	})
	return f, err
}

// stalled is for how many attempts the run, or one below it that is active, has not got further: the one that has for
// the most.
func (w *watched) stalled(ctx context.Context, id string) (int, error) {
	run, err := w.Run(ctx, id)
	if err != nil {
		return 0, err
	}
	below, err := w.ListRuns(ctx,
		store.RunFilter{Parent: id, Statuses: []string{event.StatusRunning, event.StatusPending}, Limit: 1000})
	most := run.Stalled
	for _, r := range below {
		if err != nil {
			break
		}
		var n int
		n, err = w.stalled(ctx, r.ID)
		most = max(most, n)
	}
	return most, err
}

// StopRun implements [store.Runs].
func (u *watchedUser) StopRun(ctx context.Context, id, action string, now time.Time) (r store.Run, err error) {
	err = u.w.write([]string{"stop"}, commitNote, func() error {
		r, err = u.UserData.StopRun(ctx, id, action, now)
		return err
	})
	return r, err
}

// CommitAll implements [store.Work].
func (w *watched) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) (ids []string, err error) {
	kind := commitNote
	var items []string
	for _, s := range steps {
		in := itemsOf(s)
		if len(s.Updates) > 0 || slices.ContainsFunc(in, func(i string) bool { return strings.HasPrefix(i, "end:") }) {
			kind = commitStep
		}
		items = append(items, in...)
	}
	err = w.write(items, kind, func() error {
		ids, err = w.Store.CommitAll(ctx, f, steps)
		return err
	})
	return ids, err
}

// write does one write, whose contents are the items, and says when it is durable.
func (w *watched) write(items []string, kind string, do func() error) error {
	w.die.at("before", items)
	if err := do(); err != nil {
		say(markFailed, err.Error())
		return err
	}
	if kind == commitStep {
		w.die.claimed(0)
	}
	say(markCommit, append([]string{kind}, items...)...)
	w.die.at("after", items)
	return nil
}

// itemsOf names what a step writes, in a word for each thing that is the same in every run: its intents and results by
// call, its updates by node and the number of turns before, the run's status.
func itemsOf(s store.Step) []string {
	turns := 0
	for _, m := range agent.Messages.Get(s.State) {
		if m.Role == message.AI {
			turns++
		}
	}
	var items []string
	for _, u := range s.Updates {
		items = append(items, fmt.Sprintf("update:%s:%d", u.Node, turns))
	}
	for _, ev := range s.Events {
		switch d := ev.Data.(type) {
		case event.ToolStart:
			items = append(items, "start:"+d.CallID)
		case event.ToolEnd:
			items = append(items, "end:"+d.CallID)
		case event.Run:
			items = append(items, "run:"+d.Status)
		}
	}
	return items
}
