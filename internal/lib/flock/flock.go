// Package flock locks files among processes. A lock ends with its file, or with the process.
package flock

import (
	"context"
	"os"
	"time"
)

// pause is how long Wait lets pass before it tries again.
const pause = 5 * time.Millisecond

// Wait takes the lock of an open file alone, as soon as nobody else has it.
func Wait(ctx context.Context, f *os.File) error {
	for {
		err := Try(f, true)
		if err == nil || !again(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
