package goals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// tokens is how many chunks the streamed answer has; those that have come together are shown together. The second half
// is measured: the first ones may have to wait for the commit of what came before them, and then come at once.
const tokens = 100_000

// measureToken measures the way of one token from the socket, through provider, loop and recorder, to the event that
// a client is shown. Its floor is reading the same bytes and looking at nothing.
func measureToken(ctx context.Context, e env, r *measure.Table) (err error) {
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: filepath.Join(e.dir, "token")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for _, w := range wires.All() {
		if err := measureTokenOn(ctx, w, st, r); err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
	}
	return nil
}

func measureTokenOn(ctx context.Context, w wires.Wire, st *sqlstore.Store, r *measure.Table) error {
	server := serveBytes([]byte(wordsAnswer(w, tokens)))
	defer server.Close()
	a, err := newAgent(w.Open(server.URL, "bench", nil), newProse(3), loopMiddlewares, tool.ReadOnly)
	if err != nil {
		return err
	}
	manager := newManager(st, a)
	var allocs float64
	stream := func(ctx context.Context) ([]time.Duration, error) {
		var seen window
		err := turn(ctx, manager, newID(), seen.show, message.New(message.Human, "count"))
		if err == nil && seen.tokens != tokens {
			err = fmt.Errorf("%d tokens were shown", seen.tokens)
		}
		allocs = seen.allocs()
		return []time.Duration{seen.took()}, err
	}
	bare := func(ctx context.Context) ([]time.Duration, error) {
		took, err := download(ctx, server.URL)
		return []time.Duration{took / tokens}, err
	}
	took, err := compare(ctx, 5, stream, bare)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "token from socket to event, " + w.Name,
		Unit: units.Seconds, Value: took[0], Beside: took[1], Goal: measure.Within(5e-6)})
	r.Add(measure.Figure{Name: "  its allocations", Unit: units.Short, Value: allocs, Goal: measure.Within(12)})
	return nil
}

// window is what happened in the second half of an answer.
type window struct {
	tokens, from  int // how many were shown, and how many before the window
	first, last   time.Time
	before, after runtime.MemStats
}

func (w *window) show(ev event.Event) {
	c, ok := ev.Data.(event.Chunk)
	if !ok {
		return
	}
	w.tokens += strings.Count(c.Text, " ") // each ends with one
	switch {
	case w.from == 0 && w.tokens >= tokens/2:
		runtime.ReadMemStats(&w.before)
		w.from, w.first = w.tokens, time.Now()
	case w.tokens == tokens:
		w.last = time.Now()
		runtime.ReadMemStats(&w.after)
	}
}

// took is the time of one token.
func (w *window) took() time.Duration {
	return w.last.Sub(w.first) / time.Duration(max(1, w.tokens-w.from))
}

func (w *window) allocs() float64 {
	return float64(w.after.Mallocs-w.before.Mallocs) / float64(max(1, w.tokens-w.from))
}

// download reads an answer of the server from the socket and throws it away.
func download(ctx context.Context, url string) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	start := time.Now()
	_, err = io.Copy(io.Discard, resp.Body)
	return time.Since(start), err
}
