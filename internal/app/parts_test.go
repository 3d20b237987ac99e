package app

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/testkit/natstest"
)

// lists are the parts of an engine, for runs alone and for a server.
func lists() map[string]func(e *engine) parts {
	return map[string]func(e *engine) parts{
		"run": (*engine).forRuns,
		"serve": func(e *engine) parts {
			e.shown = &cli.Session{}
			return slices.Concat(e.forRuns(), e.forServer(config.Server{Addr: "127.0.0.1:0"}))
		},
		"handler": func(e *engine) parts { return slices.Concat(e.forRuns(), e.forHandler(func() {})) },
	}
}

func stopped(t *testing.T, dir, nats string) *engine {
	t.Helper()
	e, err := App{}.newEngine(config.Default(), dir, cli.Options{NATS: nats, Model: config.Demo})
	if err != nil {
		t.Fatal(err)
	}
	e.halt = func() {}
	return e
}

// TestAStartThatFailsLeavesNothing: whichever part it is that fails, those before it are stopped, from the last to the
// first, no goroutine is left, and the data folder is free.
func TestAStartThatFailsLeavesNothing(t *testing.T) {
	url, dir := natstest.Start(t).URL(), filepath.Join(t.TempDir(), "data")
	before := goleak.IgnoreCurrent()
	for name, list := range lists() {
		for at := range len(list(stopped(t, dir, url))) + 1 {
			e := stopped(t, dir, url)
			ps := list(e)
			begun, ended := track(ps)
			broken := errors.New("broken")
			if at < len(ps) {
				ps[at].start = func(context.Context) error { return broken }
			} else {
				broken = nil
			}
			err := e.start(t.Context(), ps)
			if !errors.Is(err, broken) {
				t.Fatalf("%s, part %d: %v, want %v", name, at, err, broken)
			}
			if err == nil {
				err = e.close()
			}
			if err != nil && err.Error() != "broken" {
				t.Errorf("%s, part %d: %v", name, at, err)
			}
			slices.Reverse(*ended)
			if len(*begun) != at || !slices.Equal(*begun, *ended) {
				t.Errorf("%s, part %d fails: %q were started, %q stopped", name, at, *begun, *ended)
			}
			if err := goleak.Find(before); err != nil {
				t.Fatalf("%s, part %d fails: %v", name, at, err)
			}
		}
	}
}

// track records what is started and stopped.
func track(ps parts) (begun, ended *[]string) {
	begun, ended = new([]string), new([]string)
	for i, p := range ps {
		ps[i].start = func(ctx context.Context) error {
			*begun = append(*begun, p.name)
			if p.start == nil {
				return nil
			}
			return p.start(ctx)
		}
		ps[i].stop = func(ctx context.Context) error {
			*ended = append(*ended, p.name)
			if p.stop == nil {
				return nil
			}
			return p.stop(ctx)
		}
	}
	return begun, ended
}

// TestPartsThatCannotStart by themselves, in the program: the address is taken, or the program's own start fails.
func TestPartsThatCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	before := goleak.IgnoreCurrent()
	dir := filepath.Join(t.TempDir(), "data")
	t.Setenv("PUDU_CONFIG", "")
	no := func(context.Context, *App, string) error { return errors.New("not today") }
	for want, start := range map[string]func() error{
		"listen at": func() error {
			return App{}.Serve(t.Context(), cli.Options{Data: dir, Addr: taken.Addr().String()}, func(*cli.Session) {})
		},
		"not today": func() error {
			_, err := App{Start: no}.Open(t.Context(), cli.Options{Data: dir})
			return err
		},
	} {
		if err := start(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := goleak.Find(before); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
	}
}
