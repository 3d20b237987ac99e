package files

import (
	"context"
	"errors"
	"net/http"
	"syscall"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/sandbox"
)

// open opens the files of a thread of the caller's; the caller closes them. A thread that is not there yet has files
// too: clients upload before they send the first message.
func (g *Group) open(ctx context.Context, threadID string) (*sandbox.Files, error) {
	return g.Files(ctx, route.Caller(ctx).User, threadID)
}

// storeError gives an error of storing a file the answer that says what is wrong, if it is known.
func storeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return route.Failf(http.StatusInsufficientStorage, "There is no space left on the server's disk")
	}
	return err
}
