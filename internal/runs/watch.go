package runs

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Watcher tells operators what happens to runs. Its methods do not block.
type Watcher interface {
	// Begun tells of an attempt that begins. The context that it returns is the attempt's.
	Begun(ctx context.Context, job Job) context.Context
	// Ended tells of a run that has come to its end, once that is durable. The context is that of the attempt; of a run
	// that ended while it waited, it is that of who ended it.
	Ended(ctx context.Context, job Job, end End)
}

// End is how a run ended, and the tokens of all its attempts.
type End struct {
	event.Run

	Usage message.Usage
}

// nobody watches.
type nobody struct{}

func (nobody) Begun(ctx context.Context, _ Job) context.Context { return ctx }
func (nobody) Ended(context.Context, Job, End)                  {}

// endedWaiting tells of a run that was asked to stop at the time now, if that has ended it there and then.
func (m *Manager) endedWaiting(ctx context.Context, run store.Run, now time.Time) {
	if run.Active() || run.UpdatedAt.UnixMicro() != now.UnixMicro() {
		return
	}
	req, _ := RequestOf(run)
	m.ended(ctx, Job{Run: run, Request: req},
		End{Run: event.Run{Status: run.Status, Error: run.Error, StopReason: run.StopReason}})
}

// endedBy tells of the runs of a thread that waited, and were ended by the admission of another one at the time now.
func (u *UserRuns) endedBy(ctx context.Context, admitted store.Run, now time.Time) {
	list, err := u.data.ListRuns(ctx, store.RunFilter{
		ThreadID: admitted.ThreadID, Statuses: []string{event.StatusInterrupted, event.StatusError}, Limit: 1000,
	})
	if err != nil {
		u.m.cfg.Log.Warn("cannot tell which runs a new one has ended", "thread", admitted.ThreadID, "error", err)
	}
	for _, run := range list {
		u.m.endedWaiting(ctx, run, now)
	}
}
