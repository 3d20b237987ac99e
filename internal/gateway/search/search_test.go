package search_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// found waits until a search finds what it should: the index follows a change within moments.
func found(t *testing.T, k *gateways.Kit, path, want string) {
	t.Helper()
	var got string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		w := k.Do("GET", path, "")
		if got = w.Body.String(); w.Code == http.StatusOK &&
			(want == "" && strings.TrimSpace(got) == "[]" || want != "" && strings.Contains(got, want)) {
			return
		}
	}
	t.Fatalf("%s: %s, want %s", path, got, want)
}

func TestSearch(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "Where do the red deer live?")
	found(t, k,
		"/search?q=DEER",
		`"excerpt":[{"text":"Where do the red ","marked":false},{"text":"deer","marked":true},{"text":" live?","marked":false}]`)
	k.Play([]gateways.Scenario{
		{Name: "title", Method: "POST", Path: "/threads/t/state", Body: `{"values":{"title":"About 机器学习"}}`,
			Status: 200},
		{Name: "folder", Method: "POST", Path: "/folders", Body: `{"name":"f"}`, Status: 200,
			Keep: map[string]string{"folder_id": "folder"}},
	})
	found(t, k, "/search?q=学习", `"kind":"title","message_id":null,"path":null,"role":null`)
	const nothing = `[]`
	one := `[{"thread_id":"t","title":"About 机器学习","kind":"message","message_id":"*","path":null,"role":"human","at":"*"}]`
	k.Play([]gateways.Scenario{
		{Name: "message", Method: "GET", Path: "/api/search?q=red+deer", Status: 200, Want: one},
		{Name: "answer", Method: "GET", Path: "/api/search?q=there", Status: 200, Want: `[{"role":"ai"}]`},
		{Name: "phrase", Method: "GET", Path: "/search?q=%22deer+red%22", Status: 200, Want: nothing},
		{Name: "in a folder", Method: "GET", Path: "/search?q=deer&folder={folder}", Status: 200, Want: nothing},
		{Name: "put", Method: "PUT", Path: "/folders/{folder}/threads/t", Status: 200},
		{Name: "in the folder", Method: "GET", Path: "/search?q=deer&folder={folder}&thread_id=t&status=idle",
			Status: 200, Want: one},
		{Name: "in another state", Method: "GET", Path: "/search?q=deer&status=busy", Status: 200, Want: nothing},
		{Name: "in no folder", Method: "GET", Path: "/search?q=deer&folder=none", Status: 404,
			Want: `{"detail":"Folder none not found"}`},
		{Name: "before", Method: "GET", Path: "/search?q=deer&until=2001-01-01", Status: 200, Want: nothing},
		{Name: "since", Method: "GET", Path: "/search?q=deer&since=2001-01-01T00:00:00Z", Status: 200, Want: one},
		{Name: "no time", Method: "GET", Path: "/search?q=deer&since=yesterday", Status: 422,
			Want: `{"detail":[{"type":"datetime_parsing","loc":["query","since"]}]}`},
		{Name: "no words", Method: "GET", Path: "/search", Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["query","q"]}]}`},
		{Name: "no word", Method: "GET", Path: "/search?q=*", Status: 200, Want: nothing},
		{Name: "no page", Method: "GET", Path: "/search?q=deer&limit=101", Status: 422},
		{Name: "next page", Method: "GET", Path: "/search?q=deer&limit=100&offset=100", Status: 200, Want: nothing},
		{Name: "rename", Method: "PATCH", Path: "/threads/t", Body: `{"metadata":{"title":"x"}}`, Status: 200},
	})
	if w := k.Do("DELETE", "/threads/t", ""); w.Code >= 300 {
		t.Fatal(w.Code, w.Body)
	}
	found(t, k, "/search?q=deer", "")
}

// TestWhatLeavesABranch is not found any more: a state update takes a message away.
func TestWhatLeavesABranch(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "herons")
	found(t, k, "/search?q=herons", `"thread_id":"t"`)
	k.Play([]gateways.Scenario{{Name: "take all away", Method: "POST", Path: "/threads/t/state", Status: 200,
		Body: `{"values":{"title":"x","messages":[{"type":"remove","id":"__remove_all__"},{"type":"human","id":"h","content":"deer"}]}}`}})
	found(t, k, "/search?q=herons", "")
	found(t, k, "/search?q=deer", `"message_id":"h"`)
}
