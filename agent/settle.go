package agent

import (
	"context"
	"errors"

	"github.com/pudu-ai/pudu/tool"
)

// settle brings the state to rest after the run failed or was cancelled, commits what had happened, and returns the
// error that Run reports. Calls that are open after a cancel are answered, so that the thread can go on.
func (r *run) settle(ctx context.Context, err error) error {
	var waiting *Interrupted
	if errors.As(err, &waiting) || IsFatal(err) { // committed already, or nothing more may be
		return err
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		r.closeCalls(cancelled)
	}
	// The last step: it is written with the run's end. In between a crash would make the run look finished.
	if errCommit := r.commitLazy(ctx, Done); errCommit != nil {
		return errors.Join(err, errCommit)
	}
	return err
}

// closeCalls answers every open call of the last answer with an error that says why it did not run.
func (r *run) closeCalls(why string) {
	msg, open := openCalls(r.state)
	for _, call := range open {
		tc := tool.Call{ID: call.ID, Name: call.Name}
		m := toolMessage(r.rt, msg.ID, tc, tool.Error(why))
		_ = r.apply(NodeTools, Messages.Append(m)) // appending messages to a log cannot fail
	}
}
