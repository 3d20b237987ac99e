package client_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

func TestUploads(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	cl := s.dial(s.url())
	large := make([]byte, 1<<20)
	for _, c := range []struct {
		name, content string
		want          string // of the error
	}{
		{"a.txt", "one", ""},
		{"a.txt", "two", ""}, // replaced
		{"empty", "", ""},
		{"large", string(large), ""},
		{"larger", string(large) + "x", "says 413 Request Entity Too Large: File too large: larger"},
		{`a\b.txt`, "x", "takes no file of this name"},
		{"a\nb", "x", "takes no file of this name"},
		{strings.Repeat("n", 256), "x", "takes no file of this name"},
	} {
		_, err := cl.Run(t.Context(), request("t", "go"), map[string][]byte{c.name: []byte(c.content)}, ignore, silent)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.20q: got %v", c.name, err)
			}
			continue
		}
		if raw, errRead := os.ReadFile(s.host("t", "uploads/"+c.name)); err != nil || errRead != nil ||
			string(raw) != c.content {
			t.Errorf("%.20q: %.20q, %v, %v", c.name, raw, err, errRead)
		}
	}
	if list, err := s.data().ListRuns(t.Context(), store.RunFilter{}); err != nil || len(list) != 4 {
		t.Errorf("%d runs, %v", len(list), err)
	}
}

func TestReadFile(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	if _, err := s.files(t.Context(), access.User{}, "t"); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"a b%20?#.html": "<b>", "deep/é.txt": "E", "empty": "",
		"ten": "0123456789"} {
		if err := os.MkdirAll(s.host("t", "outputs/deep"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.host("t", "outputs/"+name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, door := range []client.Config{s.url(), s.socket()} {
			raw, err := s.dial(door).ReadFile(t.Context(), "t", sandbox.Outputs+"/"+name, 10)
			if err != nil || string(raw) != content {
				t.Errorf("%s: %q, %v", name, raw, err)
			}
		}
	}
	cl := s.dial(s.url())
	for path, want := range map[string]error{
		sandbox.Outputs + "/none":      fs.ErrNotExist,
		sandbox.Outputs + "/ten/below": fs.ErrNotExist,
		sandbox.Outputs + "/ten":       sandbox.ErrTooLarge,
	} {
		if _, err := cl.ReadFile(t.Context(), "t", path, 9); !errors.Is(err, want) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	var status *client.StatusError
	if _, err := cl.ReadFile(t.Context(), "t", sandbox.Outputs+"/../../../etc/passwd", 9); !errors.As(err, &status) ||
		status.Status != http.StatusBadRequest && status.Status != http.StatusForbidden {
		t.Errorf("a path that leads out: %v", err)
	}
}

func TestLists(t *testing.T) {
	end := make(chan struct{})
	s := newSite(t, t.TempDir(), talker{end: end})
	cl := s.dial(s.url())
	for _, thread := range []string{"one", "two"} {
		req := request(thread, "hello "+thread)
		req.UserID = "user"
		if _, err := s.manager.For(user()).Submit(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	active := store.RunFilter{Statuses: []string{event.StatusPending, event.StatusRunning, event.StatusInterrupted},
		Limit: 10}
	s.runs(cl, active, "two running", "one running")
	s.runs(cl, store.RunFilter{ThreadID: "one"}, "one running")
	s.runs(cl, store.RunFilter{Statuses: []string{event.StatusSuccess, event.StatusError}})
	close(end)
	s.waitUntilIdle()
	s.runs(cl, active)
	if list, err := cl.ListRuns(t.Context(), store.RunFilter{Limit: 1}); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	s.runs(cl, store.RunFilter{Limit: 5}, "two success", "one success")
	threads, err := cl.SearchThreads(t.Context(), store.ThreadFilter{Limit: 10})
	if err != nil || len(threads) != 2 ||
		!slices.ContainsFunc(threads, func(t store.Thread) bool { return t.ID == "one" && t.Title == "hello one" }) {
		t.Errorf("%+v, %v", threads, err)
	}
	if th, err := cl.Thread(t.Context(), "two"); err != nil || th.Status != store.ThreadIdle ||
		time.Since(th.UpdatedAt) > time.Minute {
		t.Errorf("%+v, %v", th, err)
	}
	if err := cl.DeleteThread(t.Context(), "two"); err != nil {
		t.Error(err)
	}
	_, errThread := cl.Thread(t.Context(), "two")
	_, errRuns := cl.ListRuns(t.Context(), store.RunFilter{ThreadID: "two"})
	for _, err := range []error{errThread, errRuns, cl.DeleteThread(t.Context(), "two")} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of a thread that was deleted: %v", err)
		}
	}
}

// runs checks which runs are listed.
func (s *site) runs(cl *client.Client, f store.RunFilter, want ...string) {
	s.t.Helper()
	list, err := cl.ListRuns(s.t.Context(), f)
	var got []string
	for _, r := range list {
		got = append(got, r.ThreadID+" "+r.Status)
	}
	if err != nil || !slices.Equal(got, want) {
		s.t.Errorf("%+v: got %q, %v", f, got, err)
	}
}

func TestKnows(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	cl := s.dial(s.url())
	for name, want := range map[string]bool{"test/talker": true, "one": true, "provider/two": true, "two": false,
		"a b/../one": false, "": true} {
		if got, err := cl.Knows(t.Context(), name); err != nil || got != want {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
}
