package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/message"
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

// TestStatesThatCannotBeTold are a failure of the server, and no states without what is missing.
func TestStatesThatCannotBeTold(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "hello")
	unsound := &gateways.Trouble{SpoilState: func(cp *store.Checkpoint) {
		bad := message.New(message.Human, "x")
		bad.ID, bad.Kwargs = "bad", message.Fields{"k": json.RawMessage("{")}
		next, _, err := cp.State.Apply(agent.Messages.Append(bad))
		if err != nil {
			t.Error(err)
		}
		cp.State = next
	}}
	for _, path := range []string{"GET /threads/t", "GET /threads/t/state", "POST /threads/t/history",
		"POST /threads/t/copy", "POST /threads/t/state/checkpoint"} {
		method, path, _ := strings.Cut(path, " ")
		if w := k.Send(gateways.Troubled(k.Request(method, path, ""),
			unsound)); w.Code != http.StatusInternalServerError || w.Body.String() != `{"detail":"Internal Server Error"}` {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	if w, cut := k.Cut(gateways.Troubled(k.Request("GET", "/runs/"+run.ID+"/join", ""), unsound)); !cut || w.Body.Len() > 0 {
		t.Errorf("cut %t: %s", cut, w.Body)
	}
	if report, err := k.Report(context.WithValue(t.Context(), gateways.TroubleKey{}, unsound), run); err == nil {
		t.Errorf("a report %s", report)
	}
}
