package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/tool"
)

// TestRoutesThatAreAudited: what deletes, and what is for admins, is told to the audit log.
func TestRoutesThatAreAudited(t *testing.T) {
	for _, r := range gateways.New(t, nil).Routes() {
		if (r.Method == http.MethodDelete || r.Role == access.Admin) && (r.Verb == "" || r.Kind == "") {
			t.Errorf("%s %s does not say what the audit log tells of it: .Audits(audit.Delete, KIND)", r.Method, r.Path)
		}
		if r.Method == http.MethodDelete && r.Verb != audit.Delete {
			t.Errorf("%s %s is told as %s", r.Method, r.Path, r.Verb)
		}
	}
}

// audited are the rows of the audit log, the oldest first.
func audited(t *testing.T, k *gateways.Kit) (lines []string) {
	t.Helper()
	list, err := k.Audit.List(t.Context(), audit.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(list) {
		line := fmt.Sprintf("%s, %s: %s %s %s", e.User, e.Via, e.Verb, e.Kind, e.Object)
		if e.Refused != "" {
			line += ": " + e.Refused
		}
		lines = append(lines, line)
	}
	return lines
}

// TestAuditOfRequests: deletions that were carried out, and what a caller was refused.
func TestAuditOfRequests(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Vars["run"] = k.Run("t", "hello").ID
	k.Put("t", "uploads/a.txt", "x")
	k.Play([]gateways.Scenario{{
		Name: "folder", Method: "POST", Path: "/folders", Status: 200, Body: `{"name":"x"}`,
		Keep: map[string]string{"folder_id": "f"},
	}})
	k.Expect("a file of it", k.UploadTo("/folders/{f}/files", gateways.File("a.txt", "x")), 200, `{"skipped_files":[]}`)
	k.Play([]gateways.Scenario{
		{Name: "in it", Method: "PUT", Path: "/folders/{f}/threads/t", Status: 200},
		{Name: "out of it", Method: "DELETE", Path: "/folders/{f}/threads/t", Status: 200},
		{Name: "no file of the folder", Method: "DELETE", Path: "/folders/{f}/files/b.txt", Status: 404},
		{Name: "file of the folder", Method: "DELETE", Path: "/folders/{f}/files/a.txt", Status: 204},
		{Name: "item", Method: "DELETE", Path: "/store/items", Status: 204, Body: `{"namespace":["a","b"],"key":"k"}`},
		{Name: "file", Method: "DELETE", Path: "/threads/t/uploads/a.txt", Status: 200},
		{Name: "run", Method: "DELETE", Path: "/threads/t/runs/{run}", Status: 204},
		{Name: "no run", Method: "DELETE", Path: "/threads/t/runs/{run}", Status: 404},
		{Name: "thread", Method: "DELETE", Path: "/threads/t", Status: 200},
	})
	k.Change(func(c *gateway.Config) { c.Role, c.Via = access.Viewer, "command line socket" })
	for range 3 {
		k.Do("DELETE", "/threads/other", "")
		k.Do("POST", "/threads", "{}")
	}
	me := gateways.User + ", loopback: delete "
	socket := gateways.User + ", command line socket: "
	want := []string{
		me + "folder thread " + k.Vars["f"] + "/t", me + "folder file " + k.Vars["f"] + "/a.txt", me + "item a.b/k",
		me + "file t/a.txt", me + "run t/" + k.Vars["run"],
		me + "thread t",
		socket + "delete thread other: this needs the role user; the caller's is viewer",
		socket + "call route POST /threads: this needs the role user; the caller's is viewer",
	}
	if d := cmp.Diff(want, audited(t, k.Kit)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if w := k.Do("GET", "/audit", ""); w.Code != http.StatusForbidden {
		t.Errorf("a viewer reads the log: %d", w.Code)
	}
	k.Change(func(c *gateway.Config) { c.Role = access.Admin })
	k.Play([]gateways.Scenario{
		{
			Name: "page", Method: "GET", Path: "/audit?limit=1&offset=1&user=" + gateways.User, Status: 200,
			Want:    `[{"verb":"call","kind":"route","object":"POST /threads","times":1}]`,
			Headers: map[string]string{"X-Pagination-Next": "2"},
		},
		{Name: "later", Method: "GET", Path: "/audit?since=2999-01-01T00:00:00Z", Status: 200, Want: `[]`},
		{Name: "no time", Method: "GET", Path: "/audit?since=x", Status: 422},
	})
}

// TestAuditOfTokens: a token the first time, and one that is none; never the token itself.
func TestAuditOfTokens(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Guard = gateway.Guard{Token: "right-7d1c"} })
	for _, token := range []string{"right-7d1c", "wrong-7d1c", "right-7d1c", "wrong-7d1c"} {
		r := k.Request("GET", "/info", "")
		r.Header.Set("Authorization", "Bearer "+token)
		k.Send(r)
	}
	want := []string{gateways.User + ", token: sign-in token ",
		", address 192.0.2.1: sign-in token : the token is wrong"}
	if d := cmp.Diff(want, audited(t, k)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if got := strings.Join(audited(t, k), "\n"); strings.Contains(got, "7d1c") {
		t.Errorf("a token is in the log: %s", got)
	}
}

// TestAuditOfApprovals: who approved or rejected which call, once, also when the request comes again with its key;
// and which run was rolled back.
func TestAuditOfApprovals(t *testing.T) {
	spec := tool.Spec{Name: "ask", Description: "Asks."}
	ask := tool.MustNew(spec, func(_ context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
		if c.Answer == nil {
			return nil, approval.Ask(*c, "", "")
		}
		return tool.Text("decided"), nil
	})
	k := gateways.NewOf(t, agent.Config{Tools: []tool.Tool{ask}}, nil)
	answer := func(key, body string) {
		t.Helper()
		r := k.Request("POST", "/threads/t/runs/wait", body)
		r.Header.Set("Idempotency-Key", key)
		if w := k.Send(r); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	k.Run("t", "ask")
	for range 2 {
		answer("k1", `{"command":{"resume":{"decisions":[{"type":"reject"}]}}}`)
	}
	answer("k2", `{"command":{"resume":{"decisions":[{"type":"approve"}]}}}`) // of nothing
	run := k.SubmitLater("u")
	k.Do("POST", "/threads/u/runs", `{"input":{"messages":"hello"},"multitask_strategy":"rollback"}`)
	want := []string{
		gateways.User + ", loopback: reject call t/call-ask",
		gateways.User + ", loopback: delete run u/" + run.ID,
	}
	if d := cmp.Diff(want, audited(t, k)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}
