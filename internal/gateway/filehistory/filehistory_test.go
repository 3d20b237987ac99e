package filehistory_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/userdata"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFileHistory: what a run has changed, back, and what a file was.
func TestFileHistory(t *testing.T) {
	data := t.TempDir()
	all := filehistory.New(filehistory.Config{})
	of := func(_ context.Context, user access.User, id string) (*filehistory.Thread, error) {
		place, err := userdata.New(data).User(user).Thread(id)
		return all.Of(place), err
	}
	k := gateways.New(t, func(c *gateway.Config) { c.FileHistory = of })
	run := k.Run("t", "hello").ID
	k.Vars["run"] = run
	past, err := of(t.Context(), access.FromRow(gateways.User), "t")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(data, "users", gateways.User, "threads/t/user-data/outputs/a.md")
	write := func(run, text string) {
		t.Helper()
		done, err := past.Call(t.Context(), run, "c", "bash")
		if err == nil {
			err = os.MkdirAll(filepath.Dir(file), 0o750)
		}
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err == nil {
			err = done(context.WithoutCancel(t.Context()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("before", "one\n")
	write(run, "two\n")
	const changes, versions, at = "/threads/t/runs/{run}/workspace-changes", "/threads/t/file-versions",
		"path=/mnt/user-data/outputs/a.md"
	k.Play([]gateways.Scenario{
		{Name: "changes", Method: "GET", Path: changes, Status: 200, Want: `{"available":true,"version":1,
			"summary":{"created":0,"modified":1,"deleted":0,"symlink_created":0,"additions":1,"deletions":1,"truncated":false},
			"files":[{"path":"/mnt/user-data/outputs/a.md","root":"outputs","status":"modified","binary":false,"sensitive":false,"size_before":4,"size_after":4,
			"diff":"--- a/mnt/user-data/outputs/a.md\n+++ b/mnt/user-data/outputs/a.md\n@@ -1 +1 @@\n-one\n+two","diff_truncated":false,
			"diff_unavailable_reason":null,"additions":1,"deletions":1,"symlink":false,"symlink_target_before":null,"symlink_target_after":null}],
			"limits":{"max_files":200,"max_scanned_files":2000,"max_file_bytes_for_diff":262144,"max_total_diff_bytes":1048576}}`},
		{Name: "without diffs", Method: "GET", Path: changes + "?include_diff=false", Status: 200,
			Want: `{"files":[{"diff":"","additions":1}]}`},
		{Name: "without files", Method: "GET", Path: changes + "?include_files=false", Status: 200,
			Want: `{"available":true,"summary":{"modified":1},"files":[]}`},
		{Name: "of no run", Method: "GET", Path: "/threads/t/runs/nope/workspace-changes", Status: 200,
			Want: `{"available":false,"version":1,
			"summary":{"created":0,"modified":0,"deleted":0,"symlink_created":0,"additions":0,"deletions":0,"truncated":false},"files":[],"limits":{}}`},
		{Name: "versions", Method: "GET", Path: versions + "?" + at, Status: 200,
			Want: `{"path":"/mnt/user-data/outputs/a.md",
			"versions":[{"version":2,"run":"` + run + `","by":"tool","tool":"bash","call":"c","size":4,"available":true,"current":true,"removed":false},
			{"version":1,"run":"before","available":true,"current":false}]}`},
		{Name: "no version", Method: "GET", Path: versions + "/7/content?" + at, Status: 404},
		{Name: "no number", Method: "GET", Path: versions + "/x/content?" + at, Status: 404},
		{Name: "a diff", Method: "GET", Path: versions + "/2/diff?from=1&" + at, Status: 200,
			Want: `{"status":"modified","additions":1,"deletions":1}`},
		{Name: "another place", Method: "GET", Path: versions + "?path=/etc/passwd", Status: 422},
		{Name: "a way out", Method: "GET", Path: versions + "/1/content?path=/mnt/user-data/outputs/../../x",
			Status: 422},
		{Name: "dry", Method: "POST", Path: changes + "/undo", Body: `{"dry_run":true}`, Status: 200,
			Want: `{"done":false,"undo_id":"","restored":["/mnt/user-data/outputs/a.md"],"removed":[],"conflicts":[],"not_restorable":[],"left":[]}`},
		{Name: "undo elsewhere", Method: "POST", Path: changes + "/undo",
			Body: `{"paths":["/mnt/user-data/workspace"]}`, Status: 200,
			Want: `{"done":true,"undo_id":"","restored":[]}`},
		{Name: "undo outside", Method: "POST", Path: changes + "/undo", Body: `{"paths":["/etc"]}`, Status: 422},
		{Name: "undo", Method: "POST", Path: changes + "/undo", Body: `{}`, Status: 200,
			Want: `{"done":true,"undo_id":"*","restored":["/mnt/user-data/outputs/a.md"]}`,
			Keep: map[string]string{"undo_id": "undo"}},
		{Name: "again", Method: "POST", Path: changes + "/undo", Body: `{}`, Status: 200,
			Want: `{"done":true,"undo_id":"","restored":[]}`},
		{Name: "undo the undo", Method: "POST", Path: "/threads/t/runs/{undo}/workspace-changes/undo", Status: 200,
			Want: `{"done":true,"restored":["/mnt/user-data/outputs/a.md"]}`},
	})
	if w := k.Send(k.Request("GET", versions+"/1/content?"+at, "")); w.Code != http.StatusOK ||
		w.Body.String() != "one\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	list, err := k.Data().Checkpoints(t.Context(), "t", "", 1)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	k.Vars["early"] = list[0].ID
	write("after", "three\n")
	k.Vars["late"] = latest(k, "t")
	k.Play([]gateways.Scenario{
		{Name: "the files before there were any", Method: "GET", Path: "/threads/t/state/{early}/files", Status: 200,
			Want: `{"checkpoint_id":"{early}","created_at":"*","files":[],"more":false}`},
		{Name: "the files of then", Method: "GET", Path: "/threads/t/state/{late}/files", Status: 200,
			Want: `{"files":[{"path":"/mnt/user-data/outputs/a.md","version":5,"run":"after","size":6,"available":true,"current":true}]}`},
		{Name: "at no checkpoint", Method: "GET", Path: "/threads/t/state/01a214ec-9889-7000-8000-000000000000/files",
			Status: 404},
		{Name: "at none", Method: "GET", Path: "/threads/t/state/x/files", Status: 404},
		{Name: "of another thread", Method: "GET", Path: "/threads/u/state/{late}/files", Status: 404},
	})
	k.Play([]gateways.Scenario{{Name: "changed since", Method: "POST", Path: changes + "/undo", Body: `{}`, Status: 200,
		Want: `{"done":false,"undo_id":"","conflicts":[{"path":"/mnt/user-data/outputs/a.md","reason":"it was changed again later"}]}`}})
	if raw, err := os.ReadFile(file); string(raw) != "three\n" || err != nil {
		t.Errorf("%q, %v", raw, err)
	}
}

// latest is a checkpoint that is written now.
func latest(k *gateways.Kit, thread string) string {
	k.T.Helper()
	k.Run(thread, "hello again")
	list, err := k.Data().Checkpoints(k.T.Context(), thread, "", 1)
	if err != nil || len(list) != 1 {
		k.T.Fatal(list, err)
	}
	return list[0].ID
}
