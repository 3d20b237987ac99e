package app

import (
	"context"
	"errors"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// removeThread removes a thread: its rows, then its sandbox, which drop closes by its id, and its files. When it is cut
// off in between, the next start does the rest; see [finishDeletions].
func removeThread(ctx context.Context, s store.UserData, disk userdata.Disk, id string,
	drop func(sandboxID string)) error {
	return dropThread(ctx, s, disk, id, func(store.Thread) bool { return true }, drop)
}

// dropThread is removeThread if still says so of the thread, else [store.ErrConflict].
func dropThread(ctx context.Context, s store.UserData, disk userdata.Disk, id string, still func(store.Thread) bool,
	drop func(sandboxID string),
) error {
	t, err := s.Thread(ctx, id)
	if err != nil {
		return err
	}
	place, errPlace := disk.User(access.FromRow(t.UserID)).Thread(id)
	if errPlace != nil { // a thread whose user or id can have no folder has no files
		return s.DropThread(ctx, id, still)
	}
	if err = place.Going(); err == nil {
		err = s.DropThread(ctx, id, still)
	}
	if err != nil {
		if _, there := s.Thread(ctx, id); there == nil { // else it may be that only the answer was lost
			err = errors.Join(err, place.Stay())
		}
		return err
	}
	drop(place.SandboxID())
	return place.Remove()
}
