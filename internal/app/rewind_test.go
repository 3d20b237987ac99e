package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/stream/follow"
)

// TestFilesOfThen: an edit, a run from an earlier checkpoint and a branch take the files of that moment along when they
// are asked to, and what that has changed is undone as any change.
func TestFilesOfThen(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "m.yaml")
	var dialogues strings.Builder
	for _, name := range []string{"one", "two", "three"} {
		fmt.Fprintf(&dialogues, "  - match: ^%s\n    turns: [{tool_calls: [{name: write_file, args: {description: d, path: /mnt/user-data/workspace/%s, content: x}}]}, {text: done}]\n", name, name)
	}
	if err := os.WriteFile(script, []byte("dialogues:\n"+dialogues.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	e := engineOf(t, &vendor{}, "title: {enabled: false}\nmodels: [{name: m, provider: scripted, model: m, script: "+
		script+"}]\n")
	e.hub = follow.New(follow.Config{Store: e.store})
	g := gateway.New(e.gatewayConfig(e.session(nil), config.Server{}))
	call := func(method, path, body string, out any) {
		t.Helper()
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if g.ServeHTTP(w, r); w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), out) != nil {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	has := func(thread, want string) {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(e.dir, "users/default/threads", thread, "user-data/workspace/*"))
		var names []string
		for _, p := range list {
			names = append(names, filepath.Base(p))
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("thread %s has %q, want %q", thread, got, want)
		}
	}
	var ran any
	var at struct {
		ID string `json:"checkpoint_id"`
	}
	say := func(words, more string) {
		t.Helper()
		call("POST", "/threads/t/runs/wait", `{"input":{"messages":[{"type":"human","content":"`+words+`"}]}`+more+`}`,
			&ran)
	}
	call("POST", "/threads", `{"thread_id":"t"}`, &ran)
	say("one", "")
	call("GET", "/threads/t/state", "", &at)
	say("two", "")
	has("t", "one two")
	var rows []struct {
		Content struct{ ID, Type string }
	}
	call("GET", "/threads/t/messages", "", &rows)
	answer, question := rows[3].Content.ID, rows[4].Content.ID

	var prepared struct {
		Input, Checkpoint, Metadata json.RawMessage
	}
	call("POST", "/threads/t/runs/edit-regenerate/prepare", `{"human_message_id":"`+question+
		`","replacement_text":"three","files":"then"}`, &prepared)
	call("POST", "/threads/t/runs/wait", fmt.Sprintf(`{"input":%s,"checkpoint":%s,"metadata":%s}`, prepared.Input,
		prepared.Checkpoint, prepared.Metadata), &ran)
	has("t", "one three")

	say("hello", `,"checkpoint_id":"`+at.ID+`","metadata":{"replay_files":"then"}`)
	has("t", "one")
	var runs []struct {
		ID string `json:"run_id"`
	}
	var undone filehistory.Undone
	call("GET", "/threads/t/runs", "", &runs)
	call("POST", "/threads/t/runs/"+runs[0].ID+"-files/workspace-changes/undo", "{}", &undone)
	has("t", "one three")

	var branch struct {
		ID    string `json:"thread_id"`
		Clone string `json:"workspace_clone_mode"`
	}
	call("POST", "/threads/t/branches", `{"message_id":"`+answer+`","files":"then"}`, &branch)
	if has(branch.ID, "one"); branch.Clone != "files_of_that_turn" {
		t.Error(branch)
	}
	call("POST", "/threads/t/branches", `{"message_id":"`+answer+`","files":"now"}`, &branch)
	has(branch.ID, "one three")
	call("POST", "/threads/t/branches", `{"message_id":"`+answer+`"}`, &branch)
	has(branch.ID, "")
}
