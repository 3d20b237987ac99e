package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
)

// configured is a configuration file with one model at a server of its own.
type configured struct {
	t    *testing.T
	url  string
	path string
	o    cli.Options
}

func newConfigured(t *testing.T, v *vendor) *configured {
	t.Helper()
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	c := &configured{t: t, url: server.URL, path: filepath.Join(dir, "config.yaml")}
	c.o = cli.Options{Config: c.path, Data: filepath.Join(dir, "data"), Addr: "127.0.0.1:0"}
	c.write("one")
	return c
}

func (c *configured) text(model string, more ...string) string {
	return "title: {enabled: false}\n" + strings.Join(more, "\n") + "\nmodels:\n  - {name: " + model +
		", provider: openai, model: " + model +
		", api_key: k, base_url: \"" + c.url + "/v1\", use_responses_api: false}\n"
}

func (c *configured) write(model string, more ...string) { c.put(c.text(model, more...)) }

func (c *configured) put(text string) {
	c.t.Helper()
	if err := os.WriteFile(c.path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// engine is one for runs with the file.
func (c *configured) engine(a App) *engine {
	c.t.Helper()
	cfg, dir, _, err := a.settings(c.o)
	if err != nil {
		c.t.Fatal(err)
	}
	e, err := a.assemble(c.t.Context(), cfg, dir, c.o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := e.close(); err != nil {
			c.t.Error(err)
		}
	})
	return e
}

func answered(t *testing.T, e *engine, thread, want string) {
	t.Helper()
	req := runs.Request{ThreadID: thread, Input: []message.Message{message.New(message.Human, "hello")}}
	out, err := e.manager.For(access.Default()).Run(t.Context(), req, nil)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Errorf("thread %s: %+v, %v", thread, out.Run, err)
		return
	}
	msgs := agent.Messages.Get(out.State)
	if got := msgs[len(msgs)-1].Text(); got != want {
		t.Errorf("thread %s: %q, want %q", thread, got, want)
	}
}

// TestReloadWhileARunWorks: the run ends with the model that it began with, the next has the new one.
func TestReloadWhileARunWorks(t *testing.T) {
	t.Parallel()
	v := &vendor{words: map[string]string{"one": "from one", "two": "from two"}, takes: 400 * time.Millisecond}
	c := newConfigured(t, v)
	e := c.engine(App{})
	var first sync.WaitGroup
	first.Go(func() { answered(t, e, "a", "from one") })
	for v.count("one") == 0 {
		time.Sleep(time.Millisecond)
	}
	c.write("two")
	if notes, restart, err := e.reload(t.Context()); err != nil || len(notes)+len(restart) > 0 {
		t.Fatalf("%q, %q, %v", notes, restart, err)
	}
	answered(t, e, "b", "from two")
	first.Wait()
}

// TestReloadRefuses what is broken, and nothing changes.
func TestReloadRefuses(t *testing.T) {
	t.Parallel()
	c := newConfigured(t, &vendor{words: map[string]string{"one": "still one"}})
	e := c.engine(App{})
	before := e.now()
	whole := c.text("two")
	for want, text := range map[string]string{
		"config.yaml:":  whole[:len(whole)-30],
		"is empty":      " \n",
		"log_level":     "log_level: loud\n" + whole,
		"is no address": "",
		"no such file":  "",
		"sandbox mount": whole +
			"sandbox: {use: bubblewrap, mounts: [{host_path: /not/there, container_path: /mnt/x}]}\n",
		"postgres_url":       whole + "database: {backend: postgres}\n",
		"still being writte": whole,
	} {
		ctx := t.Context()
		c.put(text)
		switch want {
		case "no such file":
			if err := os.Remove(c.path); err != nil {
				t.Fatal(err)
			}
		case "is no address":
			c.put(whole)
			e.options.Addr = "nowhere"
		case "still being writte":
			gone, cancel := context.WithCancel(ctx)
			cancel()
			ctx = gone
		}
		if _, _, err := e.reload(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		e.options.Addr = c.o.Addr
	}
	if e.now() != before {
		t.Error("the settings are others")
	}
	answered(t, e, "t", "still one")
}

// TestReloadWaitsForWhoWrites: a file that is valid in the middle of being written is not taken for the whole.
func TestReloadWaitsForWhoWrites(t *testing.T) {
	t.Parallel()
	c := newConfigured(t, &vendor{words: map[string]string{"two": "from two"}})
	e := c.engine(App{})
	c.put("title: {enabled: false}\n")
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(quietTime / 2)
			c.write("two")
		}()
		if _, _, err := e.reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	answered(t, e, "t", "from two")
}

// TestReloadsAtOnce come one after the other, while runs begin.
func TestReloadsAtOnce(t *testing.T) {
	t.Parallel()
	c := newConfigured(t, &vendor{words: map[string]string{"one": "ok", "two": "ok"}})
	e := c.engine(App{})
	c.write("two")
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, _, err := e.reload(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	for _, thread := range []string{"a", "b", "c"} {
		all.Go(func() { answered(t, e, thread, "ok") })
	}
	all.Wait()
}

// TestReloadNamesWhatNeedsARestart: each time, until there is one; the program's own sections stay as they are.
func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	own := struct {
		Name  string
		Times int
	}{Times: 3}
	c := newConfigured(t, &vendor{})
	c.write("one", "shop: {name: left}")
	o := c.o
	a := App{Sections: map[string]any{"shop": &own}}
	e := c.engine(a)
	if err := e.keepSections(); err != nil {
		t.Fatal(err)
	}
	if _, restart, err := e.reload(t.Context()); err != nil || len(restart) > 0 {
		t.Errorf("unchanged: %q, %v", restart, err)
	}
	c.write("one", "shop: {name: right}", "log_level: debug", "sandbox: {use: none, limits: {processes: 7}}",
		"database: {backend: postgres, postgres_url: \"postgres://h/d\"}")
	want := []string{"database", "log_level", "sandbox.limits", "sandbox.use", "section shop"}
	for range 2 {
		if _, restart, err := e.reload(t.Context()); err != nil || !slices.Equal(restart, want) {
			t.Errorf("%q, want %q, %v", restart, want, err)
		}
	}
	if own.Name != "left" || own.Times != 3 {
		t.Errorf("the program's section is %+v", own)
	}
	e.options = o
}

// TestAServerReloads by its command and by SIGHUP, and its clients see the models that there are now.
func TestAServerReloads(t *testing.T) {
	c := newConfigured(t, &vendor{})
	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- App{}.Serve(ctx, c.o, func(s *cli.Session) { address <- s.Address }) }()
	at := <-address
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	models := func() string {
		res, err := http.Get(at + "/api/models")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var list struct{ Models []struct{ Name string } }
		if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Models) == 0 {
			t.Fatal(list, err)
		}
		return list.Models[0].Name
	}
	if got := models(); got != "one" {
		t.Errorf("%q at first", got)
	}
	c.write("two", "log_level: error")
	if _, restart, err := (App{}).Reload(t.Context(), c.o); err != nil ||
		!slices.Equal(restart, []string{"log_level"}) {
		t.Errorf("%q, %v", restart, err)
	}
	if got := models(); got != "two" {
		t.Errorf("%q after pudu reload", got)
	}
	c.put("models: [")
	if _, _, err := (App{}).Reload(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), "config.yaml:") {
		t.Errorf("broken: %v", err)
	}
	c.write("three")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); models() != "three"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q after SIGHUP", models())
		}
	}
	remote := c.o
	remote.Config, remote.Data, remote.Server = "", "", at
	if _, _, err := (App{}).Reload(t.Context(), remote); err == nil ||
		!strings.Contains(err.Error(), "on its machine") {
		t.Errorf("elsewhere: %v", err)
	}
}
