package files_test

import (
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestReplace: who says so replaces the file of the same name, whole or not at all.
func TestReplace(t *testing.T) {
	k := gateways.NewFiles(t, func(c *gateway.Config) { c.Limits.Upload = 10 })
	k.Put("t", "uploads/a.txt", "old")
	send := func(query, content string) int {
		contentType, body := gateways.Form(gateways.File("a.txt", content))
		r := k.Request("POST", "/threads/t/uploads"+query, body)
		r.Header.Set("Content-Type", contentType)
		return k.Send(r).Code
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
		if got := send(c.query, c.content); got != c.status || k.Read("t", "uploads/a.txt") != c.want {
			t.Errorf("%s %q: status %d, the file is %q", c.query, c.content, got, k.Read("t", "uploads/a.txt"))
		}
	}
	if names := k.Names("t"); len(names) != 2 {
		t.Errorf("the uploads are %q", names)
	}
}

// TestReplaceOfWhatIsNoFile: what an agent has put in the way is neither written through nor a failure of the server.
func TestReplaceOfWhatIsNoFile(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Put("t", "workspace/target", "kept")
	at := func(name string) string { return k.Host("t", "uploads/"+name) }
	k.Put("t", "uploads/folder/inside", "kept")
	k.Put("t", "uploads/locked", "kept")
	for _, err := range []error{
		os.Symlink("../workspace/target", at("link")), os.Symlink("/etc/passwd", at("far")),
		syscall.Mkfifo(at("fifo"), 0o600), os.Chmod(at("locked"), 0o444),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{
		"link": http.StatusConflict, "far": http.StatusConflict, "fifo": http.StatusConflict,
		"folder": http.StatusConflict, "locked": http.StatusForbidden,
	} {
		contentType, body := gateways.Form(gateways.File(name, "new"))
		for _, query := range []string{"?replace=true", ""} {
			r := k.Request("POST", "/threads/t/uploads"+query, body)
			r.Header.Set("Content-Type", contentType)
			w := k.Send(r)
			if query == "" {
				want = http.StatusOK // it gets another name
			}
			if w.Code != want {
				t.Errorf("%s%s: %d %s", name, query, w.Code, w.Body)
			}
		}
	}
	if k.Read("t", "workspace/target")+k.Read("t", "uploads/folder/inside")+
		k.Read("t", "uploads/locked") != "keptkeptkept" {
		t.Error("something was written that was in the way")
	}
}

func TestInfo(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		c.About = gateway.About{
			Version: "1", PID: 7, Model: "p/m", Why: "PUDU_MODEL", Sandbox: "bwrap", Notes: []string{"a note"},
			NoModel: "add one", Started: time.Unix(0, 0),
		}
	})
	k.Play([]gateways.Scenario{{
		Name: "info", Method: "GET", Path: "/info", Status: 200,
		Want: `{"version":"1","pid":7,"model":"p/m","why":"PUDU_MODEL",
		"sandbox":"bwrap","notes":["a note"],"no_model":"add one","started_at":"1970-01-01T00:00:00.000000+00:00",
		"flags":{"assistants":true,"store":true,"crons":false,"langsmith":false}}`,
	}})
}
