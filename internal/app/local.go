package app

import (
	"context"
	"io"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/runs"
)

// Local is a Pudu whose runs are carried out by this process, for programs that embed it.
type Local struct {
	*cli.Session

	house *house
}

// OpenLocal sets everything up for runs of this process. It fails with store.ErrLocked where another holds the data
// folder: that one's agents lack what this program brings along.
func (a App) OpenLocal(ctx context.Context, o cli.Options) (*Local, error) {
	cfg, dir, notes, err := settings(o)
	if err != nil {
		return nil, err
	}
	h, err := a.assemble(ctx, cfg, dir, o)
	if err != nil {
		return nil, err
	}
	return &Local{h.session(append(notes, h.notes...)), h}, nil
}

// Snapshot is a thread's state as its last step has left it.
func (l *Local) Snapshot(ctx context.Context, threadID string) (runs.Snapshot, error) {
	return l.house.manager.Snapshot(ctx, threadID, "")
}

// Upload keeps a file of at most limit bytes in a thread's uploads, in the place of one of its name.
func (l *Local) Upload(threadID, name string, content io.Reader, limit int64) error {
	return l.house.upload(threadID, name, content, limit)
}

// Delete removes a thread with its files.
func (l *Local) Delete(ctx context.Context, threadID string) error {
	return l.house.deleteThread(ctx, threadID)
}
