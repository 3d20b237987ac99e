package memory_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestMemory(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	const at, none = "/memory/facts/{fact}", `{"detail":"Memory fact 'none' not found."}`
	k.Play([]gateways.Scenario{
		{Name: "empty", Method: "GET", Path: "/memory", Status: 200, Want: `{"version":"1.0","revision":0,"facts":[]}`},
		{Name: "nothing to undo", Method: "POST", Path: "/memory/undo", Status: 409},
		{Name: "no content", Method: "POST", Path: "/memory/facts", Body: `{}`, Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body","content"]}]}`},
		{Name: "empty content", Method: "POST", Path: "/memory/facts", Body: `{"content":""}`, Status: 422,
			Want: `{"detail":[{"type":"string_too_short","loc":["body","content"]}]}`},
		{Name: "blanks", Method: "POST", Path: "/memory/facts", Body: `{"content":"  "}`, Status: 400,
			Want: `{"detail":"Memory fact content cannot be empty."}`},
		{Name: "too long", Method: "POST", Path: "/memory/facts", Body: `{"content":"` +
			strings.Repeat("n", memory.MaxContent+1) + `"}`, Status: 422,
			Want: `{"detail":[{"loc":["body","content"]}]}`},
		{Name: "too sure", Method: "POST", Path: "/memory/facts", Body: `{"content":"a","confidence":1.5}`, Status: 422,
			Want: `{"detail":[{"type":"less_than_equal","loc":["body","confidence"]}]}`},
		{Name: "less than nothing", Method: "POST", Path: "/memory/facts", Body: `{"content":"a","confidence":-1}`,
			Status: 422},
		{Name: "no number", Method: "POST", Path: "/memory/facts", Body: `{"content":"a","confidence":"much"}`,
			Status: 422,
			Want:   `{"detail":[{"type":"float_parsing"}]}`},
		{Name: "no folder", Method: "POST", Path: "/memory/facts", Body: `{"content":"a","folder_id":"none"}`,
			Status: 404},
		{Name: "add", Method: "POST", Path: "/api/memory/facts",
			Body: `{"content":"Likes tea","category":"preference","agent":"Writer"}`, Status: 200,
			Want: `{"version":"2.0","revision":1,"facts":[{"content":"Likes tea","confidence":0.5,"scope":{"agentName":"writer"}}]}`},
		{Name: "list", Method: "GET", Path: "/memory/facts", Status: 200,
			Want: `{"facts":[{"fact_id":"*","content":"Likes tea","agent":"writer","source":"manual"}]}`,
			Keep: map[string]string{"facts.0.fact_id": "fact"}},
		{Name: "again", Method: "POST", Path: "/memory/facts", Body: `{"content":"likes  TEA","agent":"writer"}`,
			Status: 409,
			Want:   `{"detail":"A fact with the same content already exists."}`},
		{Name: "search", Method: "GET", Path: "/memory/facts?q=tea", Status: 200,
			Want: `{"facts":[{"content":"Likes tea"}]}`},
		{Name: "no page", Method: "GET", Path: "/memory/facts?limit=1001", Status: 422},
		{Name: "no status", Method: "GET", Path: "/memory/facts?status=lost", Status: 422},
		{Name: "no history", Method: "GET", Path: "/memory/history?limit=201", Status: 422},
		{Name: "history", Method: "GET", Path: "/memory/history", Status: 200,
			Want: `{"history":[{"act":"added","after":"Likes tea"}]}`},
		{Name: "why nothing", Method: "GET", Path: "/memory/facts/none", Status: 404, Want: none},
		{Name: "change nothing", Method: "PATCH", Path: "/memory/facts/none", Body: `{"content":"a"}`, Status: 404,
			Want: none},
		{Name: "forget nothing", Method: "DELETE", Path: "/memory/facts/none", Status: 404, Want: none},
		{Name: "accept nothing", Method: "POST", Path: "/memory/facts/none/accept", Status: 404, Want: none},
		{Name: "refuse nothing", Method: "POST", Path: "/memory/facts/none/refuse", Status: 404, Want: none},
		{Name: "restore nothing", Method: "POST", Path: "/memory/facts/none/restore", Status: 404, Want: none},
		{Name: "bad document", Method: "POST", Path: "/memory/import", Body: `{"facts":[{"id":"a","content":""}]}`,
			Status: 422},
		{Name: "document", Method: "POST", Path: "/memory/import",
			Body: `{"facts":[{"id":"new","content":"Likes cake","status":"proposed"}]}`, Status: 200,
			Want: `{"revision":2,"facts":[]}`},
		{Name: "what it replaced", Method: "GET", Path: "/memory/facts?status=gone", Status: 200,
			Want: `{"facts":[{"content":"Likes tea"}]}`,
			Keep: map[string]string{"facts.0.fact_id": "fact"}},
		{Name: "twin", Method: "POST", Path: "/memory/facts", Body: `{"content":"Likes tea","agent":"writer"}`,
			Status: 200},
		{Name: "restore beside a twin", Method: "POST", Path: at + "/restore", Status: 409,
			Want: `{"detail":"A fact with the same content already exists."}`},
		{Name: "accept", Method: "POST", Path: "/memory/facts/new/accept", Status: 200},
		{Name: "accept again", Method: "POST", Path: "/memory/facts/new/accept", Status: 404},
		{Name: "forget thread", Method: "DELETE", Path: "/memory/threads/nowhere", Status: 200},
		{Name: "forget", Method: "DELETE", Path: "/memory/facts/new", Status: 200},
		{Name: "clear", Method: "DELETE", Path: "/memory", Status: 200, Want: `{"facts":[]}`},
	})
}

// TestMemoryOfOthers is not there, whatever its ids are, and stays as it is.
func TestMemoryOfOthers(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("mine", "hello")
	theirs := k.Memory.For(access.FromRow("other"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(theirs.Import(t.Context(), memory.Document{Facts: []memory.FactDoc{
		{ID: "theirs", Content: "secret", Source: "thread-of-theirs"},
		{ID: "waits", Content: "secret too", Status: "proposed"},
	}}))
	var list []gateways.Scenario
	for _, r := range [][2]string{
		{"GET", ""}, {"PATCH", ""}, {"DELETE", ""}, {"POST", "/accept"}, {"POST", "/refuse"}, {"POST", "/restore"},
	} {
		for _, id := range []string{"theirs", "waits"} {
			list = append(list, gateways.Scenario{Name: r[0] + r[1] + " " + id, Method: r[0], Path: "/memory/facts/" +
				id + r[1],
				Body: map[string]string{"PATCH": `{"content":"mine"}`}[r[0]], Status: 404,
				Want: `{"detail":"Memory fact '` + id + `' not found."}`})
		}
	}
	list = append(list,
		gateways.Scenario{Name: "list", Method: "GET", Path: "/memory/facts", Status: 200, Want: `{"facts":[]}`},
		gateways.Scenario{Name: "search", Method: "GET", Path: "/memory/facts?q=secret", Status: 200,
			Want: `{"facts":[]}`},
		gateways.Scenario{Name: "history", Method: "GET", Path: "/memory/history", Status: 200, Want: `{"history":[]}`},
		gateways.Scenario{Name: "export", Method: "GET", Path: "/memory/export", Status: 200, Want: `{"facts":[]}`},
		gateways.Scenario{Name: "thread", Method: "DELETE", Path: "/memory/threads/thread-of-theirs", Status: 200},
		gateways.Scenario{Name: "clear", Method: "DELETE", Path: "/memory", Status: 200},
		gateways.Scenario{Name: "their id", Method: "POST", Path: "/memory/import",
			Body: `{"facts":[{"id":"theirs","content":"mine"}]}`, Status: 200},
	)
	k.Play(list)
	left, err := theirs.Facts(t.Context(), "", "", 10)
	if must(err); len(left) != 2 || left[0].Content != "secret" || left[1].Status != memory.Proposed {
		t.Errorf("%+v", left)
	}
}

// TestWhyOfAnotherRun is that a run of another user is not there, and that an error of what was told is one of the
// server.
func TestWhyOfAnotherRun(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		c.Told = func(_ context.Context, u access.User, run store.Run) ([]memory.Told, error) {
			return []memory.Told{{ID: "a", Content: "Likes tea", Why: "for " + u.ID(), Run: run.ID, Now: "active"}}, nil
		}
	})
	run := k.Run("t", "hello").ID
	k.Play([]gateways.Scenario{
		{Name: "mine", Method: "GET", Path: "/threads/t/runs/" + run + "/memory/why", Status: 200,
			Want: `{"facts":[{"fact_id":"a","since_run_id":"` + run + `"}]}`},
		{Name: "none", Method: "GET", Path: "/threads/t/runs/none/memory/why", Status: 404},
		{Name: "in another thread", Method: "GET", Path: "/threads/none/runs/" + run + "/memory/why", Status: 404},
	})
}
