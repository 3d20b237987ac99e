package route

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/internal/testkit/sinktest"
)

// TestAClosedOutletLetsGo: nobody who comes late waits for ever, and nothing is written any more.
func TestAClosedOutletLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.New()
		out := NewSSE(w, Limits{Heartbeat: 15 * time.Second})
		time.Sleep(16 * time.Second)
		out.Close()
		if !out.mu.TryLock() {
			t.Fatal("whoever comes late waits for ever")
		}
		out.mu.Unlock()
		time.Sleep(time.Minute)
		if !slices.Equal(w.Writes, []string{": heartbeat\n\n"}) || w.At[0] != 15*time.Second {
			t.Errorf("%q at %v", w.Writes, w.At)
		}
	})
}

// TestAStream sends about a piece at once, each byte once, with headers that keep proxies from holding it back.
func TestAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.New()
		out := NewSSE(w, Limits{Heartbeat: 15 * time.Second})
		defer out.Close()
		want := http.Header{
			"Content-Type": {"text/event-stream; charset=utf-8"}, "Cache-Control": {"no-cache, no-transform"},
			"X-Accel-Buffering": {"no"}, "Connection": {"keep-alive"},
		}
		if diff := cmp.Diff(want, w.Header()); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		add := func(texts ...string) error {
			return out.Write(func(add Add) (err error) {
				for _, s := range texts {
					err = errors.Join(err, add(func(b []byte) ([]byte, error) { return append(b, s...), nil }))
				}
				return err
			})
		}
		long := jsontest.Long(piece)
		if err := add("a", "b", long, "c", long); err != nil {
			t.Error(err)
		}
		if err := add(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(w.Writes, []string{"ab" + long, "c" + long}) {
			t.Errorf("%d writes, %d bytes", len(w.Writes), len(strings.Join(w.Writes, "")))
		}
		w.Fails = io.ErrClosedPipe
		if err := add("x"); !errors.Is(err, ErrGone) || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("to a client that has gone: %v", err)
		}
		w.Fails, w.Writes = nil, nil
		broken := errors.New("broken")
		err := out.Write(func(add Add) error {
			return errors.Join(add(func(b []byte) ([]byte, error) { return append(b, "half"...), nil }), broken)
		})
		if !errors.Is(err, broken) || len(w.Writes) > 0 {
			t.Errorf("what was not whole: %v, %q", err, w.Writes)
		}
	})
}
