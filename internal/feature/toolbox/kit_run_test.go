package toolbox

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
)

// kitOf is a kit of a process whose sandbox has the Python of the tests.
func kitOf(t *testing.T, b *Box, unfit error) *Kit {
	t.Helper()
	k := NewKit(b, func(context.Context) (Target, error) { return here, unfit }, slog.New(slog.DiscardHandler))
	t.Cleanup(k.Close)
	return k
}

// await waits until the kit's installation has ended.
func await(t *testing.T, k *Kit) Status {
	t.Helper()
	for ctx := t.Context(); ; {
		if s := k.Status(ctx); s.State != Installing {
			return s
		}
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestInstalledInTheBackground: a run before has none, one behind has it, and what it shows stays.
func TestInstalledInTheBackground(t *testing.T) {
	ix := serve(t, wheels(t))
	b := boxOf(t, ix)
	k := kitOf(t, b, nil)
	if v, ok := k.Shown(t.Context()); ok {
		t.Errorf("a run has %+v", v)
	}
	want := Status{State: Missing, Packages: []string{}, Total: b.must(t).size()}
	if d := cmp.Diff(want, k.Status(t.Context())); d != "" {
		t.Error(d)
	}
	goOn := make(chan struct{})
	ix.handler = func(http.ResponseWriter, *http.Request, []byte) bool { <-goOn; return false }
	for range 2 { // the second finds the first at work
		if err := k.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s := k.Status(t.Context()); s.State != Installing || s.Step != "download" {
		t.Errorf("%+v", s)
	}
	close(goOn)
	want = Status{State: Installed, Version: b.must(t).name(), Packages: []string{"alpha", "beta"}}
	if d := cmp.Diff(want, await(t, k)); d != "" {
		t.Error(d)
	}
	v, ok := k.Shown(t.Context())
	if !ok || v.Name != want.Version {
		t.Errorf("a run has %+v, %t", v, ok)
	}
	if _, err := b.Remove(v.Name); err == nil {
		t.Error("it was removed although a run has it")
	}
	k.Close()
	if _, err := b.Remove(v.Name); err != nil {
		t.Error(err)
	}
}

// TestWhyItWasNotInstalled is told until the next installation.
func TestWhyItWasNotInstalled(t *testing.T) {
	ix := serve(t, wheels(t))
	ix.handler = func(w http.ResponseWriter, r *http.Request, _ []byte) bool { http.NotFound(w, r); return true }
	k := kitOf(t, boxOf(t, ix), nil)
	if err := k.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := await(t, k); s.State != Missing || !strings.Contains(s.Why, "404") {
		t.Errorf("%+v", s)
	}
	ix.handler = nil
	if err := k.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := await(t, k); s.State != Installed || s.Why != "" {
		t.Errorf("%+v", s)
	}

	k = kitOf(t, boxOf(t, ix), ErrTarget)
	if s := k.Status(t.Context()); s.State != Unavailable || s.Why != ErrTarget.Error() {
		t.Errorf("%+v", s)
	}
	if err := k.Begin(t.Context()); !errors.Is(err, ErrTarget) {
		t.Error(err)
	}
}

// TestTheEndOfTheProcessEndsIt: at once, and nothing is half there.
func TestTheEndOfTheProcessEndsIt(t *testing.T) {
	ix := serve(t, wheels(t))
	ix.handler = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool { <-r.Context().Done(); return true }
	b := boxOf(t, ix)
	k := kitOf(t, b, nil)
	if err := k.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.Close()
	if list, err := b.List(); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if err := k.Begin(t.Context()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTheUsualIndex: two of the smallest packages of the program's own lock, from where everybody has them.
func TestTheUsualIndex(t *testing.T) {
	own, small := ownLock(), &Lock{Pythons: []string{"3.11"}}
	for _, p := range own.Packages {
		if p.Name == "et-xmlfile" || p.Name == "cycler" {
			small.Packages = append(small.Packages, p)
		}
	}
	b := New(Config{Dir: t.TempDir() + "/toolbox", HTTP: &http.Client{Timeout: time.Minute},
		Log: slog.New(slog.DiscardHandler), lock: small})
	firstPause = time.Millisecond
	v, err := b.Install(t.Context(), here, nil, nil)
	if _, offline := errors.AsType[*net.OpError](err); offline {
		machinetest.Cannot(t, "the index of Python packages")
	}
	if err != nil {
		t.Fatal(err)
	}
	read(t, v.Host+"/python/et_xmlfile/__init__.py")
	read(t, v.Host+"/python/cycler/__init__.py")
}
