package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// sink is a client. It notes when it gets what, and what time it was given for it.
type sink struct {
	http.ResponseWriter

	mu      sync.Mutex
	begun   time.Time
	writes  []string
	at      []time.Duration
	reads   []time.Duration // deadlines
	allowed []time.Duration
	fails   error
}

func newSink() *sink { return &sink{ResponseWriter: httptest.NewRecorder(), begun: time.Now()} }

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes, s.at = append(s.writes, string(p)), append(s.at, time.Since(s.begun))
	if s.fails != nil {
		return 0, s.fails
	}
	return len(p), nil
}

func (*sink) FlushError() error { return nil }

func (s *sink) SetReadDeadline(at time.Time) error {
	s.reads = append(s.reads, at.Sub(s.begun))
	return nil
}

func (s *sink) SetWriteDeadline(at time.Time) error {
	s.allowed = append(s.allowed, at.Sub(s.begun))
	return nil
}

// TestHeartbeats: a stream says something when it was quiet for two thirds of the time that it may be, and else nothing.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSink()
		out := newSSE(w, Limits{Heartbeat: 15 * time.Second})
		time.Sleep(32 * time.Second)
		if err := out.write(frames.EndFrame()); err != nil {
			t.Error(err)
		}
		time.Sleep(24 * time.Second)
		out.close()
		if !out.mu.TryLock() {
			t.Error("whoever comes late waits for ever")
		}
		time.Sleep(time.Minute)
		want := []time.Duration{15 * time.Second, 30 * time.Second, 32 * time.Second, 45 * time.Second}
		if !slices.Equal(w.at, want) || w.writes[0] != ": heartbeat\n\n" || w.writes[2] != "event: end\ndata: null\n\n" {
			t.Errorf("%v %q", w.at, w.writes)
		}
		out.mu.Unlock()
	})
}

// TestBlankLinesOfALog come one by one, though each is a single byte.
func TestBlankLinesOfALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSink()
		out := newOutlet(w, Limits{Heartbeat: 15 * time.Second}, "application/x-ndjson", "\n")
		time.Sleep(32 * time.Second)
		out.close()
		if !slices.Equal(w.writes, []string{"\n", "\n"}) {
			t.Errorf("%q at %v", w.writes, w.at)
		}
	})
}

// TestBlanksOfAWait come three times in the time that a connection may be quiet, and none behind the answer.
func TestBlanksOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSink()
		quiet := keepAlive(w, 5*time.Second)
		time.Sleep(16 * time.Second)
		quiet()
		quiet()
		time.Sleep(time.Minute)
		if !slices.Equal(w.writes, []string{"\n", "\n", "\n"}) || !slices.Equal(w.at, []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second}) {
			t.Errorf("%q at %v", w.writes, w.at)
		}
	})
}

// pieces are events of messages, each of so many bytes of text.
func pieces(n, size int) (evs []event.Event) {
	evs = append(evs, event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}})
	for i := range n {
		evs = append(evs, event.Event{ID: event.ID{Attempt: 1, N: int64(i + 2)}, Data: event.Custom{Value: []byte(fmt.Sprintf("%q", long(size)))}})
	}
	return evs
}

// TestAStreamIsWrittenInPieces, as large as one frame behind what is written at once; who takes none is sent no more.
func TestAStreamIsWrittenInPieces(t *testing.T) {
	k := newServer(t, nil)
	const n, size = 40, 10 << 10
	evs := pieces(n, size)
	log := func(out *outlet) error { return (&logger{outlet: out, schema: k.Manager.Schema()}).events(evs) }
	stream := func(out *outlet) error {
		p, err := k.projector(t.Context(), store.Run{ID: "r", ThreadID: "t", Request: []byte("{}"), Attempt: 1}, view{modes: []frames.Mode{"custom"}})
		if err != nil {
			return err
		}
		return out.project(p, evs)
	}
	for name, send := range map[string]func(*outlet) error{"log": log, "stream": stream} {
		w := newSink()
		out := newOutlet(w, k.Limits, "text/plain", "")
		if err := send(out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, piece := range w.writes {
			if last := i == len(w.writes)-1; len(piece) > 64<<10+size+200 || len(piece) < 64<<10 && !last {
				t.Errorf("%s: write %d has %d bytes", name, i, len(piece))
			}
		}
		if got := strings.Count(strings.Join(w.writes, ""), long(size)); got != n || len(out.buf) > 0 {
			t.Errorf("%s: %d of %d arrived, %d bytes wait", name, got, n, len(out.buf))
		}
		out.close()
		for _, few := range []int{n, 2} {
			evs = pieces(few, size)
			w = newSink()
			w.fails = errors.New("broken pipe")
			out = newOutlet(w, k.Limits, "text/plain", "")
			if err := send(out); !errors.Is(err, errGone) || !errors.Is(err, w.fails) || len(w.writes) != 1 {
				t.Errorf("%s to nobody: %v after %d writes", name, err, len(w.writes))
			}
			out.close()
		}
		evs = pieces(n, size)
	}
}

// TestAnAnswerInPieces: the client has time for each piece of a large answer, and is told what it did not take.
func TestAnAnswerInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSink()
		a := &answer{ResponseWriter: w, rc: http.NewResponseController(w), wait: time.Minute}
		n, err := a.Write([]byte(long(2*piece + 1)))
		sizes := make([]int, len(w.writes))
		for i := range sizes {
			sizes[i] = len(w.writes[i])
		}
		if n != 2*piece+1 || err != nil || !slices.Equal(sizes, []int{piece, piece, 1}) || !slices.Equal(w.allowed, []time.Duration{time.Minute, time.Minute, time.Minute}) {
			t.Errorf("%d %v: %v, %v", n, err, sizes, w.allowed)
		}
		if n, err := a.Write(nil); n != 0 || err != nil {
			t.Errorf("of nothing %d, %v", n, err)
		}
		w.fails = io.ErrClosedPipe
		if n, err := a.Write([]byte("x")); n != 0 || !errors.Is(err, w.fails) {
			t.Errorf("to nobody %d, %v", n, err)
		}
	})
}

// TestTimesOfASteadyBody: each piece has its time, and all of it has what the slowest client may take.
func TestTimesOfASteadyBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Config: Config{Limits: Limits{Write: 30 * time.Second}}}
		w := newSink()
		const sent = 40 * slowest
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(long(sent+1)))
		b := s.steady(w, r, sent)
		read := func(n int) (int, error) { return io.ReadFull(b, make([]byte, n)) }
		for _, step := range []struct {
			wait time.Duration
			n    int
		}{{0, 10 * slowest}, {5 * time.Second, slowest}, {20 * time.Second, 0}, {0, slowest}, {10 * time.Second, 28 * slowest}} {
			time.Sleep(step.wait)
			if n, err := read(step.n); n != step.n || err != nil {
				t.Fatal(n, err)
			}
		}
		want := []time.Duration{30 * time.Second, 35 * time.Second, 41 * time.Second, 42 * time.Second}
		if !slices.Equal(w.reads, want) {
			t.Errorf("deadlines %v, want %v", w.reads, want)
		}
		if b.got != sent || b.err != nil {
			t.Errorf("%d bytes, %v", b.got, b.err)
		}
		var tooLarge *http.MaxBytesError
		if _, err := read(1); !errors.As(err, &tooLarge) || !errors.As(b.err, &tooLarge) {
			t.Errorf("%v, %v", err, b.err)
		}
		reads := len(w.reads)
		if b.drain(); len(w.reads) != reads {
			t.Error("what has failed is read on")
		}
	})
}

// TestADrainedBody was read to its end, which is no error.
func TestADrainedBody(t *testing.T) {
	s := &Server{}
	b := s.steady(newSink(), httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader("abc")), 3)
	if b.drain(); b.got != 3 || b.err != nil {
		t.Errorf("%d bytes, %v", b.got, b.err)
	}
}
