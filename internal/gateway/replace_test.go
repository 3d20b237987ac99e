package gateway

import (
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestReplace: who says so replaces the file of the same name, whole or not at all.
func TestReplace(t *testing.T) {
	k := newFileKit(t, func(c *Config) { c.Limits.Upload = 10 })
	k.put("t", "uploads/a.txt", "old")
	send := func(query, content string) int {
		contentType, body := form(file("a.txt", content))
		r := k.request("POST", "/threads/t/uploads"+query, body)
		r.Header.Set("Content-Type", contentType)
		return k.send(r).Code
	}
	for _, c := range []struct {
		query, content string
		status         int
		want           string
	}{
		{"?replace=maybe", "no", http.StatusUnprocessableEntity, "old"},
		{"?replace=false", "no", http.StatusOK, "old"}, // it is a_1.txt
		{"?replace=true", "larger than ten", http.StatusRequestEntityTooLarge, "old"},
		{"?replace=true", "new", http.StatusOK, "new"},
	} {
		if got := send(c.query, c.content); got != c.status || k.read("t", "uploads/a.txt") != c.want {
			t.Errorf("%s %q: status %d, the file is %q", c.query, c.content, got, k.read("t", "uploads/a.txt"))
		}
	}
	if names := k.names("t"); len(names) != 2 {
		t.Errorf("the uploads are %q", names)
	}
}

// TestReplaceOfWhatIsNoFile: what an agent has put in the way is neither written through nor a failure of the server.
func TestReplaceOfWhatIsNoFile(t *testing.T) {
	k := newFileKit(t, nil)
	k.put("t", "workspace/target", "kept")
	at := func(name string) string { return k.host("t", "uploads/"+name) }
	k.put("t", "uploads/folder/inside", "kept")
	k.put("t", "uploads/locked", "kept")
	for _, err := range []error{
		os.Symlink("../workspace/target", at("link")), os.Symlink("/etc/passwd", at("far")), syscall.Mkfifo(at("fifo"), 0o600), os.Chmod(at("locked"), 0o444),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{
		"link": http.StatusConflict, "far": http.StatusConflict, "fifo": http.StatusConflict, "folder": http.StatusConflict, "locked": http.StatusForbidden,
	} {
		contentType, body := form(file(name, "new"))
		for _, query := range []string{"?replace=true", ""} {
			r := k.request("POST", "/threads/t/uploads"+query, body)
			r.Header.Set("Content-Type", contentType)
			w := k.send(r)
			if query == "" {
				want = http.StatusOK // it gets another name
			}
			if w.Code != want {
				t.Errorf("%s%s: %d %s", name, query, w.Code, w.Body)
			}
		}
	}
	if k.read("t", "workspace/target")+k.read("t", "uploads/folder/inside")+k.read("t", "uploads/locked") != "keptkeptkept" {
		t.Error("something was written that was in the way")
	}
}

func TestInfo(t *testing.T) {
	k := newServer(t, func(c *Config) {
		c.About = About{
			Version: "1", PID: 7, Model: "p/m", Why: "PUDU_MODEL", Sandbox: "bwrap", Notes: []string{"a note"}, NoModel: "add one",
			Started: time.Unix(0, 0),
		}
	})
	k.play([]scenario{{name: "info", method: "GET", path: "/info", status: 200, want: `{"version":"1","pid":7,"model":"p/m","why":"PUDU_MODEL",
		"sandbox":"bwrap","notes":["a note"],"no_model":"add one","started_at":"1970-01-01T00:00:00.000000+00:00","flags":{"assistants":true,"store":true,"crons":false,"langsmith":false}}`}})
}
