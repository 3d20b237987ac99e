// Package viewer is a client of the tests that follows a run over as many connections as it takes, as the SDKs do, and
// remembers every frame that it saw. [Compare] looks for what it missed, saw twice or saw out of order.
package viewer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// pause is the time between two connections; the server is away at times.
const pause = 20 * time.Millisecond

// Client is for streams: a connection each, so that one that is dead is not used again.
var Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Viewer follows a run. [Follow] makes it.
type Viewer struct {
	t        testing.TB
	patience time.Duration
	request  Request

	mu          sync.Mutex
	frames      []Frame
	times       []time.Time
	location    string
	connections int
	err         error // of the last connection
	changed     chan struct{}
	done        chan struct{} // closed when the last connection after the end is closed
}

// Request makes the request of the next connection: what starts the run, or joins it. location is the run's, as the
// server named it in Content-Location; empty until then. The viewer adds Last-Event-ID.
type Request func(ctx context.Context, location string) (*http.Request, error)

// Follow begins to follow a run from its start. Waits are bounded by patience. It ends with the test at the latest.
func Follow(t testing.TB, patience time.Duration, request Request) *Viewer {
	t.Helper()
	v := &Viewer{t: t, patience: patience, request: request, changed: make(chan struct{}), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	var going sync.WaitGroup
	going.Go(func() { v.keepOn(ctx) })
	t.Cleanup(func() {
		cancel()
		going.Wait()
	})
	return v
}

// keepOn connects again and again until the end has come.
func (v *Viewer) keepOn(ctx context.Context) {
	for ctx.Err() == nil {
		err := v.connect(ctx)
		v.mu.Lock()
		v.err = err
		v.connections++
		over := len(v.frames) > 0 && v.frames[len(v.frames)-1].End()
		v.mu.Unlock()
		if over {
			close(v.done)
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (v *Viewer) connect(ctx context.Context) error {
	req, err := v.request(ctx, v.Location())
	if err != nil {
		return err
	}
	if last := v.last(); last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return fmt.Errorf("HTTP %d: %s", resp.StatusCode, raw)
	}
	if at := resp.Header.Get("Content-Location"); at != "" {
		v.mu.Lock()
		v.location = at
		v.mu.Unlock()
	}
	return Read(resp.Body, v.add)
}

func (v *Viewer) add(f Frame) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frames, v.times = append(v.frames, f), append(v.times, time.Now())
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *Viewer) last() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.frames) == 0 {
		return ""
	}
	return v.frames[len(v.frames)-1].ID
}

// Seen is what came until now, over all connections.
func (v *Viewer) Seen() []Frame {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clip(v.frames)
}

// Times says when each frame of [Viewer.Seen] came.
func (v *Viewer) Times() []time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clip(v.times)
}

// Location is the run's, as the server named it; empty until then.
func (v *Viewer) Location() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.location
}

// Connected is how many connections have ended.
func (v *Viewer) Connected() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.connections
}

// Await waits until what the client has seen satisfies a condition.
func (v *Viewer) Await(what string, holds func([]Frame) bool) {
	v.t.Helper()
	deadline := time.After(v.patience)
	for {
		v.mu.Lock()
		changed, ok, err, n := v.changed, holds(v.frames), v.err, len(v.frames)
		v.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			v.t.Fatalf("not within %v: %s; the client has seen %d frames, its last connection ended with: %v",
				v.patience, what, n, err)
		}
	}
}

// More waits until the client has seen so many pieces of messages beside those that it has seen already.
func (v *Viewer) More(n int) {
	v.t.Helper()
	n += Pieces(v.Seen())
	v.Await(fmt.Sprintf("%d pieces", n), func(fs []Frame) bool { return Pieces(fs) >= n })
}

// End waits until the client has seen the end, and its connection is closed.
func (v *Viewer) End() {
	v.t.Helper()
	v.Await("the end", func(fs []Frame) bool { return len(fs) > 0 && fs[len(fs)-1].End() })
	<-v.done
}
