package news_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestNews(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	k.Run("broken", "fail")
	k.Run("asks", "ask")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	k.Play([]gateways.Scenario{
		{Name: "list", Method: "GET", Path: "/news", Status: 200, Want: `{
			"threads":[{"thread_id":"asks","state":"waiting","read_at":null},{"thread_id":"broken","state":"failed"},{"thread_id":"t","state":"answered"}],
			"counts":{"running":0,"waiting":1,"failed":1,"answered":1}}`},
		{Name: "page", Method: "GET", Path: "/news?limit=1", Status: 200, Want: `{"threads":[{"thread_id":"asks"}]}`},
		{Name: "no page", Method: "GET", Path: "/news?limit=501", Status: 422},
		{Name: "in a state", Method: "GET", Path: "/news?state=waiting&limit=500", Status: 200,
			Want: `{"threads":[{"thread_id":"asks"}]}`},
		{Name: "in another", Method: "GET", Path: "/news?state=running", Status: 200,
			Want: `{"threads":[],"counts":{"waiting":1}}`},
		{Name: "no state", Method: "GET", Path: "/news?state=gone", Status: 422},
		{Name: "read", Method: "PUT", Path: "/api/threads/t/read", Status: 204},
		{Name: "read what is another's", Method: "PUT", Path: "/threads/theirs/read", Status: 404,
			Want: `{"detail":"Thread theirs not found"}`},
		{Name: "after", Method: "GET", Path: "/news", Status: 200, Want: `{
			"threads":[{"thread_id":"t","state":"","read_at":"*","archived":"<absent>","folder_id":"<absent>"},{"thread_id":"asks"},{"thread_id":"broken"}],
			"counts":{"answered":0}}`},
		{Name: "archive", Method: "PATCH", Path: "/threads/broken/marks", Body: `{"archived":true}`, Status: 200},
		{Name: "folder", Method: "POST", Path: "/folders", Body: `{"name":"Work"}`, Status: 200,
			Keep: map[string]string{"folder_id": "folder"}},
		{Name: "put", Method: "PUT", Path: "/folders/{folder}/threads/asks", Status: 200},
		{Name: "where they are", Method: "GET", Path: "/news", Status: 200, Want: `{
			"threads":[{"thread_id":"asks","folder_id":"{folder}"},{"thread_id":"broken","archived":true},{"thread_id":"t"}]}`},
	})
}

// reader reads a stream of news.
type reader struct {
	t    *testing.T
	body *bufio.Scanner
	last string // id
}

// events opens the stream.
func events(t *testing.T, url, seen string) *reader {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", seen)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Body.Close() })
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Fatalf("%d %v", w.StatusCode, w.Header)
	}
	return &reader{t: t, body: bufio.NewScanner(w.Body)}
}

// until reads up to an event of a name whose data has the members.
func (r *reader) until(name string, want map[string]any) {
	r.t.Helper()
	var event string
	for r.body.Scan() {
		field, value, _ := strings.Cut(r.body.Text(), ": ")
		switch field {
		case "event":
			event = value
		case "id":
			r.last = value
		case "data":
			var got map[string]any
			if err := json.Unmarshal([]byte(value), &got); err != nil {
				r.t.Fatalf("%s: %v", value, err)
			}
			if event == name && has(got, want) {
				if r.body.Scan(); strings.HasPrefix(r.body.Text(), "id: ") {
					r.last = r.body.Text()[4:]
				}
				return
			}
		}
	}
	r.t.Fatalf("the stream ends before %s %v: %v", name, want, r.body.Err())
}

func has(got, want map[string]any) bool {
	for name, value := range want {
		if got[name] != value {
			return false
		}
	}
	return true
}

func TestEvents(t *testing.T) {
	k := gateways.New(t, nil)
	server := httptest.NewServer(k.Server)
	t.Cleanup(server.Close)
	r := events(t, server.URL, "")
	k.Run("t", "hello")
	r.until("thread", map[string]any{"thread_id": "t", "state": "answered"})
	r.until("counts", map[string]any{"answered": 1.0})
	seen := r.last
	k.Play([]gateways.Scenario{
		{Name: "rename", Method: "POST", Path: "/threads/t/state", Body: `{"values":{"title":"Renamed"}}`, Status: 200},
		{Name: "read", Method: "PUT", Path: "/threads/t/read", Status: 204},
	})
	r.until("thread", map[string]any{"thread_id": "t", "state": "", "title": "Renamed"})
	again := events(t, server.URL, seen)
	again.until("thread", map[string]any{"thread_id": "t", "title": "Renamed"})
	k.Play([]gateways.Scenario{{Name: "delete", Method: "DELETE", Path: "/threads/t", Status: 200}})
	for _, r := range []*reader{r, again} {
		r.until("gone", map[string]any{"thread_id": "t"})
	}
	for _, id := range []string{"no number", "-1", "9223372036854775807"} {
		events(t, server.URL, id).until("reset", map[string]any{"reason": "unknown id"})
	}
	k.Stop()
	for _, r := range []*reader{r, again} {
		r.until("notice", map[string]any{"notice": "stopping"})
	}
}

// TestFolderEvents: who listens is told that folders have changed, and of the thread that was moved.
func TestFolderEvents(t *testing.T) {
	k := gateways.New(t, nil)
	server := httptest.NewServer(k.Server)
	t.Cleanup(server.Close)
	k.Run("t", "hello")
	k.Run("other", "hello")
	r := events(t, server.URL, "")
	r.until("counts", map[string]any{"answered": 2.0})
	play := func(s gateways.Scenario) {
		t.Helper()
		k.Play([]gateways.Scenario{s})
		r.until("notice", map[string]any{"notice": "folders"})
	}
	play(gateways.Scenario{Name: "make", Method: "POST", Path: "/folders", Body: `{"name":"Work"}`, Status: 200,
		Keep: map[string]string{"folder_id": "folder"}})
	play(gateways.Scenario{Name: "rename", Method: "PATCH", Path: "/folders/{folder}", Body: `{"name":"Play"}`,
		Status: 200})
	list, err := k.Folders.For(k.User).List(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	folder := list[0]
	put := gateways.Scenario{Name: "put", Method: "PUT", Path: "/folders/{folder}/threads/t", Status: 200,
		Want: `{"thread_count":1}`}
	k.Play([]gateways.Scenario{put})
	r.until("thread", map[string]any{"thread_id": "t", "folder_id": folder.ID})
	k.Play([]gateways.Scenario{{Name: "take", Method: "DELETE", Path: "/folders/{folder}/threads/t", Status: 200,
		Want: `{"thread_count":0}`}})
	r.until("thread", map[string]any{"thread_id": "t", "folder_id": nil})
	play(gateways.Scenario{Name: "remove", Method: "DELETE", Path: "/folders/{folder}", Status: 204})
}

// TestEventsOfOthers are shown to nobody else, and a server without streams left says so.
func TestEventsOfOthers(t *testing.T) {
	k := gateways.New(t, nil)
	server := httptest.NewServer(k.Server)
	t.Cleanup(server.Close)
	k.Run("mine", "hello")
	other := gateways.New(t, func(c *gateway.Config) {
		c.Store, c.News, c.Manager, c.User = k.Store, k.News, k.Manager, access.FromRow("other")
	})
	theirs := httptest.NewServer(other.Server)
	t.Cleanup(theirs.Close)
	r := events(t, theirs.URL, "")
	k.Run("mine too", "hello")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	for r.body.Scan() && !strings.Contains(r.body.Text(), `"theirs"`) {
		if strings.Contains(r.body.Text(), "mine") {
			t.Fatalf("shown to another: %s", r.body.Text())
		}
	}
}
