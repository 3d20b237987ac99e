package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/internal/store"
)

// onceMore gives a request to go on from before the thread's first input that input. Nothing else waits there to be
// done.
func (u *UserRuns) onceMore(ctx context.Context, req Request) (Request, error) {
	if !req.Continue || req.Checkpoint != store.Origin || len(req.Input) > 0 || len(req.Values) > 0 {
		return req, nil
	}
	first, err := u.firstRequest(ctx, req.ThreadID)
	if err != nil {
		return req, fmt.Errorf("read the first input of thread %s: %w", req.ThreadID, err)
	}
	req.Input, req.Values = first.Input, first.Values
	req.Continue = len(first.Input) == 0 && len(first.Values) == 0
	return req, nil
}

// firstRequest is that of the run which made the thread's first checkpoint; the zero request if none did, or if it was
// rolled back or deleted.
func (u *UserRuns) firstRequest(ctx context.Context, threadID string) (first Request, err error) {
	const page = 100
	var oldest store.Checkpoint
	for n := page; n == page; {
		list, err := u.data.Checkpoints(ctx, threadID, oldest.ID, page)
		if err != nil {
			return first, err
		}
		if n = len(list); n > 0 {
			oldest = list[n-1]
		}
	}
	if oldest.RunID == "" {
		return first, nil
	}
	run, err := u.data.Run(ctx, oldest.RunID)
	if errors.Is(err, store.ErrNotFound) || err == nil && run.Error == store.RolledBack {
		return first, nil
	}
	if err == nil {
		first, err = RequestOf(run)
	}
	return first, err
}
