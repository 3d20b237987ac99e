package threads_test

import (
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestBin(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	const binned = `{"detail":"Thread t is in the bin; restore it first (POST /threads/t/restore)"}`
	k.Play([]gateways.Scenario{
		{Name: "nothing in it", Method: "GET", Path: "/api/trash", Status: 200, Want: `[]`},
		{Name: "trash", Method: "POST", Path: "/api/threads/t/trash", Status: 200,
			Want: `{"thread_id":"t","trashed_at":"*","expires_at":"*"}`},
		{Name: "trash what is not there", Method: "POST", Path: "/threads/none/trash", Status: 404,
			Want: `{"detail":"Thread none not found"}`},
		{Name: "in the bin", Method: "GET", Path: "/trash", Status: 200, Want: `[{"thread_id":"t","trashed_at":"*"}]`},
		{Name: "next page", Method: "GET", Path: "/trash?limit=1&offset=1", Status: 200, Want: `[]`},
		{Name: "not in the list", Method: "POST", Path: "/threads/search", Body: `{}`, Status: 200, Want: `[]`},
		{Name: "not by its id", Method: "POST", Path: "/threads/search", Body: `{"ids":["t"]}`, Status: 200,
			Want: `[]`},
		{Name: "not counted", Method: "POST", Path: "/threads/count", Body: `{}`, Status: 200, Want: `0`},
		{Name: "asked for", Method: "POST", Path: "/threads/search", Body: `{"trashed":true}`, Status: 200,
			Want: `[{"thread_id":"t"}]`},
		{Name: "counted when asked for", Method: "POST", Path: "/threads/count", Body: `{"trashed":true}`, Status: 200,
			Want: `1`},
		{Name: "look", Method: "GET", Path: "/threads/t", Status: 200, Want: `{"thread_id":"t","trashed_at":"*"}`},
		{Name: "look at its state", Method: "GET", Path: "/threads/t/state", Status: 200},
		{Name: "run", Method: "POST", Path: "/threads/t/runs", Body: `{"input":{"messages":"x"}}`, Status: 409,
			Want: binned},
		{Name: "change its state", Method: "POST", Path: "/threads/t/state", Body: `{"values":{"title":"x"}}`,
			Status: 409, Want: binned},
		{Name: "mark", Method: "PATCH", Path: "/threads/t/marks", Body: `{"pinned":true}`, Status: 409, Want: binned},
		{Name: "restore", Method: "POST", Path: "/threads/t/restore", Status: 200,
			Want: `{"thread_id":"t","trashed_at":"<absent>"}`},
		{Name: "in the list", Method: "POST", Path: "/threads/search", Body: `{}`, Status: 200,
			Want: `[{"thread_id":"t"}]`},
		{Name: "runs", Method: "POST", Path: "/threads/t/runs/wait", Body: `{"input":{"messages":"x"}}`, Status: 200},
		{Name: "trash again", Method: "POST", Path: "/threads/t/trash", Status: 200},
		{Name: "empty", Method: "DELETE", Path: "/trash", Status: 200, Want: `{"deleted":1}`},
		{Name: "too late", Method: "POST", Path: "/threads/t/restore", Status: 404},
	})
}

// TestNothingChangesInTheBin: no upload, and no run is cancelled or deleted; what is there can be looked at.
func TestNothingChangesInTheBin(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Vars["run"] = k.Run("t", "hello").ID
	k.Put("t", "uploads/a.txt", "x")
	k.Play([]gateways.Scenario{{Name: "trash", Method: "POST", Path: "/threads/t/trash", Status: 200}})
	const binned = `{"detail":"Thread t is in the bin; restore it first (POST /threads/t/restore)"}`
	k.Expect("upload", k.Upload("t", gateways.File("b.txt", "x")), 409, binned)
	for _, path := range []string{"/threads/t/runs/{run}", "/runs/{run}"} {
		k.Play([]gateways.Scenario{
			{Name: "look", Method: "GET", Path: path, Status: 200},
			{Name: "cancel", Method: "POST", Path: path + "/cancel", Status: 409, Want: binned},
			{Name: "delete", Method: "DELETE", Path: path, Status: 409, Want: binned},
		})
	}
	if got := k.Names("t"); len(got) != 1 {
		t.Errorf("uploads %v", got)
	}
	k.Play([]gateways.Scenario{
		{Name: "list", Method: "GET", Path: "/threads/t/uploads/list", Status: 200},
		{Name: "restore", Method: "POST", Path: "/threads/t/restore", Status: 200},
		{Name: "delete", Method: "DELETE", Path: "/threads/t/runs/{run}", Status: 204},
	})
	k.Expect("upload", k.Upload("t", gateways.File("b.txt", "x")), 200, `{}`)
	k.Expect("to a new thread", k.Upload("fresh", gateways.File("b.txt", "x")), 200, `{}`)
}

// TestTrashStopsWhatRuns: whoever deletes a thread while it works is not asked to wait.
func TestTrashStopsWhatRuns(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Start("t")
	k.Play([]gateways.Scenario{{Name: "trash", Method: "POST", Path: "/threads/t/trash", Status: 200}})
	k.Play([]gateways.Scenario{{Name: "wait for its end", Method: "GET", Path: "/threads/t/runs/" + run.ID + "/join",
		Status: 200}})
	got, err := k.Data().Run(t.Context(), run.ID)
	if err != nil || got.Status != event.StatusInterrupted {
		t.Errorf("the run is %s, %v", got.Status, err)
	}
}

func TestMarks(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	const at = "/api/threads/t/marks"
	k.Play([]gateways.Scenario{
		{Name: "archive", Method: "PATCH", Path: at, Body: `{"archived":true}`, Status: 200,
			Want: `{"thread_id":"t","archived":true}`},
		{Name: "list", Method: "POST", Path: "/threads/search", Body: `{}`, Status: 200, Want: `[]`},
		{Name: "archive", Method: "POST", Path: "/threads/search", Body: `{"archived":true}`, Status: 200,
			Want: `[{"archived":true}]`},
		{Name: "by its id", Method: "POST", Path: "/threads/search", Body: `{"ids":["t"]}`, Status: 200,
			Want: `[{"archived":true}]`},
		{Name: "back", Method: "PATCH", Path: at, Body: `{"archived":false,"pinned":true,"title":"New"}`, Status: 200,
			Want: `{"archived":"<absent>","metadata":{"deerflow_pinned":true},"values":{"title":"New"}}`},
		{Name: "in its state", Method: "GET", Path: "/threads/t/state", Status: 200,
			Want: `{"values":{"title":"New"}}`},
		{Name: "pinned", Method: "POST", Path: "/threads/search", Body: `{"pinned":true}`, Status: 200,
			Want: `[{"thread_id":"t"}]`},
		{Name: "unpin", Method: "PATCH", Path: at, Body: `{"pinned":false}`, Status: 200},
		{Name: "not pinned", Method: "POST", Path: "/threads/count", Body: `{"pinned":true}`, Status: 200, Want: `0`},
		{Name: "no title", Method: "PATCH", Path: at, Body: `{"title":""}`, Status: 422},
		{Name: "no flag", Method: "PATCH", Path: at, Body: `{"archived":"perhaps"}`, Status: 422},
		{Name: "temporary", Method: "POST", Path: "/threads", Body: `{"thread_id":"s","temporary":true}`, Status: 200,
			Want: `{"temporary":true}`},
		{Name: "in no list", Method: "POST", Path: "/threads/count", Body: `{}`, Status: 200, Want: `1`},
		{Name: "kept", Method: "PATCH", Path: "/threads/s/marks", Body: `{"temporary":false}`, Status: 200,
			Want: `{"temporary":"<absent>"}`},
		{Name: "in the list", Method: "POST", Path: "/threads/count", Body: `{}`, Status: 200, Want: `2`},
	})
	k.Start("t")
	k.Play([]gateways.Scenario{{Name: "rename what runs", Method: "PATCH", Path: at, Body: `{"title":"x"}`, Status: 409,
		Want: `{"detail":"Thread has a run in flight. Rename it after the run finishes."}`}})
}
