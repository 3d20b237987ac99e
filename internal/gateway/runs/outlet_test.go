package runs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/internal/testkit/sinktest"
)

// TestHeartbeats: a stream says something when it was quiet for two thirds of the time that it may be, and else
// nothing.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.New()
		out := route.NewSSE(w, route.Limits{Heartbeat: 15 * time.Second})
		time.Sleep(32 * time.Second)
		if err := writeFrame(out, frames.EndFrame()); err != nil {
			t.Error(err)
		}
		time.Sleep(24 * time.Second)
		out.Close()
		time.Sleep(time.Minute)
		want := []time.Duration{15 * time.Second, 30 * time.Second, 32 * time.Second, 45 * time.Second}
		if !slices.Equal(w.At, want) || w.Writes[0] != ": heartbeat\n\n" ||
			w.Writes[2] != "event: end\ndata: null\n\n" {
			t.Errorf("%v %q", w.At, w.Writes)
		}
	})
}

// TestBlankLinesOfALog come one by one, though each is a single byte.
func TestBlankLinesOfALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.New()
		out := route.NewOutlet(w, route.Limits{Heartbeat: 15 * time.Second}, "application/x-ndjson", "\n")
		time.Sleep(32 * time.Second)
		out.Close()
		if !slices.Equal(w.Writes, []string{"\n", "\n"}) {
			t.Errorf("%q at %v", w.Writes, w.At)
		}
	})
}

// TestBlanksOfAWait come three times in the time that a connection may be quiet, and none behind the answer.
func TestBlanksOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.New()
		quiet := route.KeepAlive(w, 5*time.Second)
		time.Sleep(16 * time.Second)
		quiet()
		quiet()
		time.Sleep(time.Minute)
		if !slices.Equal(w.Writes, []string{"\n", "\n", "\n"}) || !slices.Equal(w.At,
			[]time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second}) {
			t.Errorf("%q at %v", w.Writes, w.At)
		}
	})
}

// pieces are events of messages, each of so many bytes of text.
func pieces(n, size int) (evs []event.Event) {
	evs = append(evs, event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}})
	for i := range n {
		evs = append(evs, event.Event{ID: event.ID{Attempt: 1, N: int64(i + 2)},
			Data: event.Custom{Value: []byte(fmt.Sprintf("%q", jsontest.Long(size)))}})
	}
	return evs
}

// TestTheLastFrameEndsTheFollowing of a run: its row is not waited for. Where it could not be written the client has
// gone.
func TestTheLastFrameEndsTheFollowing(t *testing.T) {
	g := &Group{Env: &route.Env{}, Manager: runs.NewManager(runs.Config{})}
	end := event.Event{ID: event.ID{Attempt: 1, N: 2}, Data: event.Run{Status: event.StatusSuccess}}
	for _, c := range []struct{ fails, want error }{{nil, errEnded}, {errors.New("broken pipe"), route.ErrGone}} {
		p, err := g.projector(t.Context(), store.Run{ID: "r", ThreadID: "t", Request: []byte("{}"), Attempt: 1},
			view{modes: []frames.Mode{"custom"}})
		if err != nil {
			t.Fatal(err)
		}
		w := sinktest.New()
		w.Fails = c.fails
		out := route.NewOutlet(w, route.Limits{}.WithDefaults(), "text/plain", "")
		if err := project(out, p, append(pieces(1, 10), end)); !errors.Is(err, c.want) {
			t.Errorf("with %v: %v", c.fails, err)
		}
		out.Close()
	}
}

// TestAStreamIsWrittenInPieces, as large as one frame behind what is written at once; who takes none is sent no more.
func TestAStreamIsWrittenInPieces(t *testing.T) {
	g := &Group{Env: &route.Env{}, Manager: runs.NewManager(runs.Config{})}
	const n, size = 40, 10 << 10
	evs := pieces(n, size)
	log := func(out *route.Outlet) error { return (&logger{Outlet: out, schema: schema()}).events(evs) }
	stream := func(out *route.Outlet) error {
		p, err := g.projector(t.Context(), store.Run{ID: "r", ThreadID: "t", Request: []byte("{}"), Attempt: 1},
			view{modes: []frames.Mode{"custom"}})
		if err != nil {
			return err
		}
		return project(out, p, evs)
	}
	for name, send := range map[string]func(*route.Outlet) error{"log": log, "stream": stream} {
		w := sinktest.New()
		out := route.NewOutlet(w, route.Limits{}.WithDefaults(), "text/plain", "")
		if err := send(out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, piece := range w.Writes {
			if last := i == len(w.Writes)-1; len(piece) > 64<<10+size+200 || len(piece) < 64<<10 && !last {
				t.Errorf("%s: write %d has %d bytes", name, i, len(piece))
			}
		}
		if got := strings.Count(strings.Join(w.Writes, ""), jsontest.Long(size)); got != n {
			t.Errorf("%s: %d of %d arrived", name, got, n)
		}
		out.Close()
		for _, few := range []int{n, 2} {
			evs = pieces(few, size)
			w = sinktest.New()
			w.Fails = errors.New("broken pipe")
			out = route.NewOutlet(w, route.Limits{}.WithDefaults(), "text/plain", "")
			if err := send(out); !errors.Is(err, route.ErrGone) || !errors.Is(err, w.Fails) || len(w.Writes) != 1 {
				t.Errorf("%s to nobody: %v after %d writes", name, err, len(w.Writes))
			}
			out.Close()
		}
		evs = pieces(n, size)
	}
}
