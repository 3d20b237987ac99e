package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// TestWebhooksAreSealed in the database, shown to who has named them, and called; so is one that an older version has
// stored. One that was sealed with another key is dropped, and its run is what it was.
func TestWebhooksAreSealed(t *testing.T) {
	t.Parallel()
	called := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { called <- r.URL.Path }))
	t.Cleanup(hook.Close)
	log := &logged{}
	c := newConfigured(t, &vendor{words: map[string]string{"one": "hello"}})
	e := c.engine(App{Log: slog.New(slog.NewJSONHandler(log, nil))})
	local := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	g := e.newGateway(e.gatewayConfig(e.session(nil), config.Server{}), local)
	run := func(m *runs.Manager, thread, path string) store.Run {
		t.Helper()
		req := runs.Request{ThreadID: thread, Webhook: hook.URL + path}
		req.Input = []message.Message{message.New(message.Human, "hello")}
		out, err := m.For(access.Default()).Run(t.Context(), req, nil)
		if err != nil || out.Run.Status != event.StatusSuccess {
			t.Fatalf("%+v, %v", out.Run, err)
		}
		row, err := e.mine().Run(t.Context(), out.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	heard := func(want ...string) {
		t.Helper()
		for range want {
			select {
			case got := <-called:
				if !slices.Contains(want, got) {
					t.Errorf("%s was called, want %s", got, want)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("not all of %s were called\n%s", want, log.String())
			}
		}
	}
	row := run(e.manager, "a", "/hush")
	// Of the same owner: another's runs are left alone for a while.
	older := runs.Config{Store: e.store, Build: e.build, Owner: row.Owner, Schema: e.schema}
	if row := run(runs.NewManager(older), "b", "/older"); !strings.Contains(string(row.Request), "/older") {
		t.Errorf("the older version has stored %s", row.Request)
	}
	other, err := secrets.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	older.Seal = func(u access.User, url string) (string, error) { return other.For(u).Seal(forWebhook, url) }
	lost := run(runs.NewManager(older), "c", "/lost")
	if err := e.start(context.WithoutCancel(t.Context()), e.forHandler(g.Stop)); err != nil {
		t.Fatal(err)
	}
	heard("/hush", "/older")
	end := time.Now().Add(20 * time.Second)
	for ; len(log.lines(t, "the webhook of a run is dropped")) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nobody says that it is dropped\n%s", log.String())
		}
	}
	if strings.Contains(string(row.Request), "hush") || !strings.Contains(string(row.Request), "sealed:1:") {
		t.Errorf("the row has %s", row.Request)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/threads/a/runs/"+row.ID, nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"webhook":"`+hook.URL+`/hush"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if len(called) > 0 || lost.Status != event.StatusSuccess {
		t.Errorf("%d calls, %+v", len(called), lost)
	}
}
