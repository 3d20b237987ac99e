package gateway_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// watched is a context that counts who waits for its end.
type watched struct {
	context.Context

	done       chan struct{}
	ever, open atomic.Int64
}

func (w *watched) Done() <-chan struct{} { return w.done }

func (w *watched) AfterFunc(func()) func() bool {
	w.ever.Add(1)
	w.open.Add(1)
	return func() bool { w.open.Add(-1); return true }
}

// TestStreamsLeaveNothingBehind: a server does not remember who has followed its runs.
func TestStreamsLeaveNothingBehind(t *testing.T) {
	k := gateways.New(t, nil)
	w := &watched{Context: context.Background(), done: make(chan struct{})}
	k.SetStopping(w)
	run := k.Run("t", "hello")
	for _, path := range []string{"GET /runs/{run}/stream", "GET /threads/t/runs/{run}/log", "GET /runs/{run}/join",
		"POST /runs/{run}/cancel?wait=1", "POST /runs/wait", "POST /runs/stream"} {
		method, path, _ := strings.Cut(path, " ")
		if strings.Contains(path, "cancel") {
			run = k.SubmitLater("t")
		}
		ever := w.ever.Load()
		if res := k.Do(method, strings.ReplaceAll(path, "{run}", run.ID), ""); res.Code >= 300 {
			t.Errorf("%s: %d %s", path, res.Code, res.Body)
		}
		if w.ever.Load() == ever || w.open.Load() != 0 {
			t.Errorf("%s: %d wait for the server's end", path, w.open.Load())
		}
	}
	k.Start("u")
	res, goes := k.Open("GET", "/threads/u/stream", "")
	k.Free()
	for f := range gateways.FramesOf(res.Body) {
		if f.Event == "end" {
			break
		}
	}
	gateways.Eventually(t, func() bool { return w.open.Load() == 1 }) // the stream itself, but not the run's
	goes()
	gateways.Eventually(t, func() bool { return w.open.Load() == 0 })
}
