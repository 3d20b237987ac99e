package history_test

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/message"
)

const export = "/api/threads/t/export"

func TestExport(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "count")
	k.Play([]gateways.Scenario{
		{Name: "a name", Method: "PATCH", Path: "/api/threads/t/marks", Body: `{"title":"会议: \"a/b\" \\ 100%"}`,
			Status: 200},
		{Name: "another format", Method: "GET", Path: export + "?format=pdf", Status: 422,
			Want: `{"detail":[{"type":"literal_error","loc":["query","format"],"msg":"Input should be 'md', 'json' or 'html'"}]}`},
		{Name: "no such thread", Method: "GET", Path: "/api/threads/none/export", Status: 404,
			Want: `{"detail":"Thread none not found"}`},
	})
	for format, want := range map[string]struct{ kind, begins string }{
		"": {"text/markdown; charset=utf-8", "# 会议"}, "?format=md": {"text/markdown; charset=utf-8", "# 会议"},
		"?format=html": {"text/html; charset=utf-8", "<!doctype html>"},
		"?format=json": {"application/json", `{"format":"pudu.transcript","version":1,`},
	} {
		w := k.Do("GET", export+format, "")
		h := w.Header()
		_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
		if w.Code != 200 || h.Get("Content-Type") != want.kind || !strings.HasPrefix(w.Body.String(), want.begins) ||
			h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox; default-src 'none'; ") ||
			err != nil || !strings.HasPrefix(params["filename"], "会议_ _a_b_ _ 100%.") {
			t.Errorf("%s: %d %v %v %.200s", format, w.Code, h, err, w.Body)
		}
		if head := k.Do("HEAD", export+format, ""); head.Code != 200 || head.Body.Len() > 0 ||
			head.Header().Get("Content-Type") != want.kind {
			t.Errorf("HEAD %s: %d %v %s", format, head.Code, head.Header(), head.Body)
		}
	}
	var got struct {
		Messages []struct {
			Run     string          `json:"run_id"`
			Message json.RawMessage `json:"message"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(k.Do("GET", export+"?format=json", "").Body.Bytes(), &got); err != nil ||
		len(got.Messages) != 4 || got.Messages[0].Run == "" {
		t.Fatalf("%v, %+v", err, got)
	}
	cp, err := k.Data().Checkpoint(t.Context(), k.Manager.Schema(), "t", "")
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range agent.Messages.Get(cp.State) {
		if raw, _ := json.Marshal(m); string(raw) != string(got.Messages[i].Message) {
			t.Errorf("the state has %s, the export %s", raw, got.Messages[i].Message)
		}
	}
}

// TestExportThatBreaksOff: what cannot be read before the first byte is an error; after it the connection is cut.
func TestExportThatBreaksOff(t *testing.T) {
	k := gateways.New(t, nil)
	if err := k.Data().CreateThread(t.Context(), store.Thread{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	msgs := make([]message.Message, 120)
	for i := range msgs {
		msgs[i] = message.New(message.Human, strings.Repeat("x", 1000))
		msgs[i].ID = fmt.Sprint(i)
	}
	empty, err := k.Manager.Schema().Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	update := agent.Messages.Append(msgs...)
	next, _, err := empty.Apply(update)
	if err == nil {
		_, err = k.Data().Write(t.Context(), "t",
			store.Step{Parent: store.Origin, Updates: []store.NodeUpdate{{Node: "n", Update: update}}, State: next})
	}
	if err != nil {
		t.Fatal(err)
	}
	refused, broken := 0, 0
	for n := int64(1); ; n++ {
		trouble := &gateways.Trouble{N: n}
		w, cut := k.Cut(gateways.Troubled(k.Request("GET", export+"?format=html", ""), trouble))
		if trouble.Calls.Load() < n {
			break
		}
		switch {
		case cut && w.Body.Len() > 0:
			broken++
		case !cut && w.Code == http.StatusServiceUnavailable && w.Header().Get("Content-Disposition") == "":
			refused++
		default:
			t.Errorf("call %d: %d %v %.200s", n, w.Code, w.Header(), w.Body)
		}
	}
	if refused == 0 || broken == 0 {
		t.Errorf("%d refused, %d broken off", refused, broken)
	}
	if w := k.Do("GET", export, ""); w.Code != http.StatusOK || strings.Count(w.Body.String(), "## Person") != 120 {
		t.Errorf("%d, %d messages", w.Code, strings.Count(w.Body.String(), "## Person"))
	}
}
