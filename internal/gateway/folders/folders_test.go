package folders_test

import (
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestFolders(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	const at = "/folders/{folder}"
	k.Play([]gateways.Scenario{
		{Name: "no name", Method: "POST", Path: "/folders", Body: `{"colour":"#000000"}`, Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body","name"]}]}`},
		{Name: "no colour", Method: "POST", Path: "/folders", Body: `{"name":"a","colour":"red"}`, Status: 422,
			Want: `{"detail":[{"type":"value_error","loc":["body","colour"],"msg":"Value error, the colour of a folder is #rrggbb or empty, not \"red\""}]}`},
		{Name: "too long", Method: "POST", Path: "/folders", Body: `{"name":"` + strings.Repeat("n", 201) + `"}`,
			Status: 422,
			Want:   `{"detail":[{"loc":["body","name"]}]}`},
		{Name: "create", Method: "POST", Path: "/api/folders",
			Body: `{"name":"Work","colour":"#00ff00","instructions":"Be brief."}`, Status: 200,
			Want: `{"folder_id":"*","name":"Work","colour":"#00ff00","instructions":"Be brief.","thread_ids":[]}`,
			Keep: map[string]string{"folder_id": "folder"}},
		{Name: "list", Method: "GET", Path: "/folders", Status: 200,
			Want: `[{"name":"Work","thread_count":0,"thread_ids":"<absent>"}]`},
		{Name: "next page", Method: "GET", Path: "/folders?offset=1&limit=1", Status: 200, Want: `[]`},
		{Name: "no page", Method: "GET", Path: "/folders?limit=0", Status: 422},
		{Name: "put", Method: "PUT", Path: at + "/threads/t", Status: 200, Want: `{"thread_ids":["t"]}`},
		{Name: "put nobody's", Method: "PUT", Path: at + "/threads/none", Status: 404,
			Want: `{"detail":"Thread none not found"}`},
		{Name: "get", Method: "GET", Path: at, Status: 200,
			Want: `{"name":"Work","thread_count":1,"thread_ids":["t"]}`},
		{Name: "its thread", Method: "GET", Path: "/threads/t", Status: 200, Want: `{"folder_id":"{folder}"}`},
		{Name: "its thread in a list", Method: "POST", Path: "/threads/search",
			Body: `{"select":["thread_id","folder_id"]}`, Status: 200,
			Want: `[{"thread_id":"t","folder_id":"{folder}","status":"<absent>"}]`},
		{Name: "patch", Method: "PATCH", Path: at, Body: `{"name":"Play","colour":""}`, Status: 200,
			Want: `{"name":"Play","colour":"","instructions":"Be brief."}`},
		{Name: "patch to no name", Method: "PATCH", Path: at, Body: `{"name":""}`, Status: 422},
		{Name: "remove", Method: "DELETE", Path: at + "/threads/t", Status: 200, Want: `{"thread_ids":[]}`},
		{Name: "a thread in none", Method: "GET", Path: "/threads/t", Status: 200, Want: `{"folder_id":"<absent>"}`},
		{Name: "remove again", Method: "DELETE", Path: at + "/threads/t", Status: 404},
		{Name: "delete", Method: "DELETE", Path: at, Status: 204},
		{Name: "get what is gone", Method: "GET", Path: at, Status: 404,
			Want: `{"detail":"Folder {folder} not found"}`},
		{Name: "patch it", Method: "PATCH", Path: at, Body: `{}`, Status: 404},
		{Name: "delete it", Method: "DELETE", Path: at, Status: 404},
	})
}

// TestFoldersOfOthers are not there, and take no thread; threads of others are put into none.
func TestFoldersOfOthers(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("mine", "hello")
	other := access.FromRow("other")
	if err := k.Folders.For(other).
		Create(t.Context(), folders.Folder{ID: "theirs", Name: "theirs", Instructions: "secret"}); err != nil {
		t.Fatal(err)
	}
	const missing = `{"detail":"Folder theirs not found"}`
	k.Play([]gateways.Scenario{
		{Name: "list", Method: "GET", Path: "/folders", Status: 200, Want: `[]`},
		{Name: "get", Method: "GET", Path: "/folders/theirs", Status: 404, Want: missing},
		{Name: "patch", Method: "PATCH", Path: "/folders/theirs", Body: `{"name":"mine"}`, Status: 404, Want: missing},
		{Name: "put", Method: "PUT", Path: "/folders/theirs/threads/mine", Status: 404},
		{Name: "remove", Method: "DELETE", Path: "/folders/theirs/threads/mine", Status: 404},
		{Name: "delete", Method: "DELETE", Path: "/folders/theirs", Status: 404, Want: missing},
	})
	if f, err := k.Folders.For(other).Folder(t.Context(), "theirs"); err != nil || f.Name != "theirs" ||
		len(f.Threads) > 0 {
		t.Errorf("%+v, %v", f, err)
	}
}
