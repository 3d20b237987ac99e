package route

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/internal/testkit/sinktest"
)

// TestAnAnswerInPieces: the client has time for each piece of a large answer, and is told what it did not take.
func TestAnAnswerInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.New()
		a := &answer{ResponseWriter: w, rc: http.NewResponseController(w), wait: time.Minute}
		n, err := a.Write([]byte(jsontest.Long(2*piece + 1)))
		sizes := make([]int, len(w.Writes))
		for i := range sizes {
			sizes[i] = len(w.Writes[i])
		}
		if n != 2*piece+1 || err != nil || !slices.Equal(sizes, []int{piece, piece, 1}) || !slices.Equal(w.Allowed,
			[]time.Duration{time.Minute, time.Minute, time.Minute}) {
			t.Errorf("%d %v: %v, %v", n, err, sizes, w.Allowed)
		}
		if n, err := a.Write(nil); n != 0 || err != nil {
			t.Errorf("of nothing %d, %v", n, err)
		}
		w.Fails = io.ErrClosedPipe
		if n, err := a.Write([]byte("x")); n != 0 || !errors.Is(err, w.Fails) {
			t.Errorf("to nobody %d, %v", n, err)
		}
	})
}

// TestTimesOfASteadyBody: each piece has its time, and all of it has what the slowest client may take.
func TestTimesOfASteadyBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Env{Limits: Limits{Write: 30 * time.Second}}
		w := sinktest.New()
		const sent = 40 * slowest
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(jsontest.Long(sent+1)))
		b := e.Steady(w, r, sent)
		read := func(n int) (int, error) { return io.ReadFull(b, make([]byte, n)) }
		for _, step := range []struct {
			wait time.Duration
			n    int
		}{{0, 10 * slowest}, {5 * time.Second, slowest}, {20 * time.Second, 0}, {0, slowest},
			{10 * time.Second, 28 * slowest}} {
			time.Sleep(step.wait)
			if n, err := read(step.n); n != step.n || err != nil {
				t.Fatal(n, err)
			}
		}
		want := []time.Duration{30 * time.Second, 35 * time.Second, 41 * time.Second, 42 * time.Second}
		if !slices.Equal(w.Reads, want) {
			t.Errorf("deadlines %v, want %v", w.Reads, want)
		}
		if b.got != sent || b.Err != nil {
			t.Errorf("%d bytes, %v", b.got, b.Err)
		}
		var tooLarge *http.MaxBytesError
		if _, err := read(1); !errors.As(err, &tooLarge) || !errors.As(b.Err, &tooLarge) {
			t.Errorf("%v, %v", err, b.Err)
		}
		reads := len(w.Reads)
		if b.Drain(); len(w.Reads) != reads {
			t.Error("what has failed is read on")
		}
	})
}

// TestADrainedBody was read to its end, which is no error.
func TestADrainedBody(t *testing.T) {
	e := &Env{}
	b := e.Steady(sinktest.New(), httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader("abc")), 3)
	if b.Drain(); b.got != 3 || b.Err != nil {
		t.Errorf("%d bytes, %v", b.got, b.Err)
	}
}

// TestADownload: the client has time for each piece; that a range is not there is said without a body.
func TestADownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Env{Limits: Limits{Write: time.Minute}}
		w := sinktest.New()
		d := e.SteadyWriter(w)
		d.WriteHeader(http.StatusPartialContent)
		if sent := w.ResponseWriter.(*httptest.ResponseRecorder).Code; sent != http.StatusPartialContent {
			t.Errorf("status %d", sent)
		}
		for _, piece := range []string{"ab", "c"} {
			if n, err := io.WriteString(d, piece); n != len(piece) || err != nil {
				t.Errorf("%s: %d, %v", piece, n, err)
			}
		}
		if !slices.Equal(w.Writes, []string{"ab", "c"}) ||
			!slices.Equal(w.Allowed, []time.Duration{time.Minute, time.Minute}) {
			t.Errorf("%q in %v", w.Writes, w.Allowed)
		}
		w = sinktest.New()
		d = e.SteadyWriter(w)
		d.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		if n, err := io.WriteString(d, "no such range"); n != 13 || err != nil || len(w.Writes) > 0 ||
			w.Header().Get("Content-Length") != "0" {
			t.Errorf("%d, %v: %q of %q bytes", n, err, w.Writes, w.Header().Get("Content-Length"))
		}
	})
}
