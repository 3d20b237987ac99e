package approvals_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	rules "github.com/pudu-ai/pudu/internal/feature/guardrail"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// runner is a model that runs what the user says, and then answers.
type runner struct{}

func (runner) Name() string { return "fake/runner" }

func (runner) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	last := req.Messages[len(req.Messages)-1]
	c := message.Chunk{Text: "done", FinishReason: "stop"}
	if last.Role == message.Human {
		args, _ := json.Marshal(map[string]string{"command": last.Text()})
		call := message.ToolCallChunk{ID: fmt.Sprint("call-", len(req.Messages)), Name: "bash", Args: string(args)}
		c = message.Chunk{ToolCalls: []message.ToolCallChunk{call}, FinishReason: "tool_calls"}
	}
	return func(yield func(message.Chunk, error) bool) { yield(c, nil) }
}

// late finds the grants of a server that is there once the agent is.
type late struct{ k *gateways.Kit }

func (l *late) Use(ctx context.Context, c *tool.Call, now time.Time) (approval.Grant, bool, error) {
	return l.k.Approvals.For(l.k.User).Use(ctx, c.ThreadID, c.Name, c.Args, now)
}

// newKit is a server whose agent has each call of bash approved.
func newKit(t *testing.T) *gateways.Kit {
	t.Helper()
	provider, err := rules.NewRules([]config.GuardrailRule{{Action: "ask"}})
	if err != nil {
		t.Fatal(err)
	}
	bash := tool.MustNew(tool.Spec{Name: "bash", Description: "Runs."},
		func(_ context.Context, _ *tool.Call, in struct {
			Command string `json:"command"`
		}) (*tool.Result, error) {
			return tool.Text("ran " + in.Command), nil
		})
	grants := &late{}
	grants.k = gateways.NewOf(t, agent.Config{Model: runner{}, Tools: []tool.Tool{bash}}, nil,
		guardrail.New(guardrail.Config{Provider: provider, Grants: grants}))
	return grants.k
}

func says(text string) string {
	return fmt.Sprintf(`{"input":{"messages":[{"role":"user","content":%q}]},"if_not_exists":"create"}`, text)
}

func resume(decision string) string {
	return `{"command":{"resume":{"decisions":[` + decision + `]}}}`
}

const (
	wait    = "/api/threads/{thread}/runs/wait"
	waiting = `{"__interrupt__":[{"value":{
		"review_configs":[{"action_name":"bash","scopes":["once","thread","always"],"pattern":"git status"}],
		"reviewConfigs":[{"actionName":"bash","scopes":["once","thread","always"],"pattern":"git status"}]}}]}`
	ran = `{"__interrupt__":"<absent>"}`
)

// TestAnAnswerWithAScope: given, used without asking, listed, revoked, asked about again.
func TestAnAnswerWithAScope(t *testing.T) {
	k := newKit(t)
	k.Vars["thread"] = "t"
	k.Play([]gateways.Scenario{
		{Name: "asks", Method: "POST", Path: wait, Body: says("git status"), Status: 200, Want: waiting},
		{Name: "no scope", Method: "POST", Path: wait, Body: resume(`{"type":"approve","scope":"forever"}`),
			Status: 422,
			Want:   `{"detail":"this answers no question: the scope of the approval cannot be used: \"forever\" is no scope: once, thread or always"}`},
		{Name: "no pattern of it", Method: "POST", Path: wait,
			Body: resume(`{"type":"approve","scope":"always","pattern":"git log*"}`), Status: 422},
		{Name: "nothing is granted", Method: "GET", Path: "/api/approvals?revoked=true", Status: 200, Want: `[]`},
		{Name: "always", Method: "POST", Path: wait,
			Body: resume(`{"type":"approve","scope":"always","pattern":"git status*"}`), Status: 200, Want: ran},
		{Name: "listed", Method: "GET", Path: "/api/approvals", Status: 200,
			Keep: map[string]string{"0.approval_id": "id"},
			Want: `[{"tool":"bash","pattern":"git status*","exact":false,"scope":"always","thread_id":null,"given_via":"loopback","used_at":null,
				"uses":0,"revoked_at":null,"created_at":"*"}]`},
	})
	k.Vars["thread"] = "u"
	k.Play([]gateways.Scenario{
		{Name: "not asked", Method: "POST", Path: wait, Body: says("git status -s"), Status: 200, Want: ran},
		{Name: "used", Method: "GET", Path: "/api/approvals", Status: 200, Want: `[{"uses":1,"used_at":"*"}]`},
		{Name: "revoked", Method: "DELETE", Path: "/api/approvals/{id}", Status: 204},
		{Name: "revoked again", Method: "DELETE", Path: "/api/approvals/{id}", Status: 404,
			Want: `{"detail":"Approval {id} not found"}`},
		{Name: "none left", Method: "GET", Path: "/api/approvals", Status: 200, Want: `[]`},
		{Name: "but remembered", Method: "GET", Path: "/api/approvals?revoked=true", Status: 200,
			Want: `[{"revoked_at":"*"}]`},
		{Name: "asked again", Method: "POST", Path: wait, Body: says("git status"), Status: 200, Want: waiting},
		{Name: "in the thread", Method: "POST", Path: wait,
			Body: `{"command":{"resume":[{"type":"approve","scope":"thread"}]}}`, Status: 200, Want: ran},
		{Name: "not asked", Method: "POST", Path: wait, Body: says("git status"), Status: 200, Want: ran},
		{Name: "listed", Method: "GET", Path: "/api/approvals", Status: 200,
			Want: `[{"exact":true,"scope":"thread","thread_id":"u","uses":1}]`},
	})
	k.Vars["thread"] = "v"
	k.Play([]gateways.Scenario{{Name: "in another", Method: "POST", Path: wait, Body: says("git status"), Status: 200,
		Want: waiting}})
	k.Play([]gateways.Scenario{
		{Name: "the thread goes", Method: "DELETE", Path: "/api/threads/u", Status: 200},
		{Name: "with its grant", Method: "GET", Path: "/api/approvals", Status: 200, Want: `[]`},
	})
}

// TestApprovalsBeforehand: they are given by a route, and what says the same is there once.
func TestApprovalsBeforehand(t *testing.T) {
	k := newKit(t)
	k.Vars["thread"] = "t"
	k.Play([]gateways.Scenario{
		{Name: "given", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"git status*"}`,
			Status: 200,
			Want:   `{"tool":"bash","pattern":"git status*","exact":false,"scope":"always","thread_id":null}`,
			Keep:   map[string]string{"approval_id": "id"}},
		{Name: "given again", Method: "POST", Path: "/approvals",
			Body: `{"tool":"bash","pattern":"git status*","scope":"always"}`, Status: 200,
			Want: `{"approval_id":"{id}"}`},
		{Name: "not asked", Method: "POST", Path: wait, Body: says("git status"), Status: 200, Want: ran},
		{Name: "a star that is one", Method: "POST", Path: "/approvals",
			Body: `{"tool":"bash","pattern":"ls *","exact":true}`, Status: 200, Want: `{"exact":true}`},
		{Name: "of a thread", Method: "POST", Path: "/approvals",
			Body: `{"tool":"bash","pattern":"ls","scope":"thread","thread_id":"t"}`, Status: 200,
			Want: `{"scope":"thread","thread_id":"t"}`},
		{Name: "of none", Method: "POST", Path: "/approvals",
			Body: `{"tool":"bash","pattern":"ls","scope":"thread","thread_id":"x"}`, Status: 404,
			Want: `{"detail":"Thread x not found"}`},
		{Name: "pages", Method: "GET", Path: "/approvals?limit=1&offset=1", Status: 200, Want: `[{"pattern":"ls *"}]`,
			Headers: map[string]string{"X-Pagination-Next": "2"}},
		{Name: "no scope", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"ls","scope":"once"}`,
			Status: 422},
		{Name: "no thread", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"ls","scope":"thread"}`,
			Status: 422},
		{Name: "thread and always", Method: "POST", Path: "/approvals",
			Body: `{"tool":"bash","pattern":"ls","thread_id":"t"}`, Status: 422},
		{Name: "too wide", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"*"}`, Status: 422},
		{Name: "no tool", Method: "POST", Path: "/approvals", Body: `{"tool":"a b","pattern":"x"}`, Status: 422},
		{Name: "NUL", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"x\u0000"}`, Status: 422},
		{Name: "arguments", Method: "POST", Path: "/approvals",
			Body:   `{"tool":"write_file","pattern":"{\"path\": \"/mnt/user-data/outputs/*\", \"content\": \"*\"}"}`,
			Status: 200,
			Want:   `{"pattern":"{\"path\":\"/mnt/user-data/outputs/*\",\"content\":\"*\"}","exact":false}`},
		{Name: "no arguments", Method: "POST", Path: "/approvals", Body: `{"tool":"write_file","pattern":"/mnt/*"}`,
			Status: 422},
		{Name: "nobody's", Method: "DELETE", Path: "/approvals/nobodys", Status: 404},
	})
}

// TestWhoMayApprove: a viewer may look, and a token that may start runs but not approve answers once.
func TestWhoMayApprove(t *testing.T) {
	k := newKit(t)
	k.Vars["thread"] = "t"
	k.Play([]gateways.Scenario{{Name: "asks", Method: "POST", Path: wait, Body: says("git status"), Status: 200,
		Want: waiting}})
	k.Change(func(c *gateway.Config) { c.Role = access.Viewer })
	k.Play([]gateways.Scenario{
		{Name: "looks", Method: "GET", Path: "/approvals", Status: 200, Want: `[]`},
		{Name: "gives", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"ls"}`, Status: 403},
		{Name: "revokes", Method: "DELETE", Path: "/approvals/x", Status: 403},
		{Name: "answers", Method: "POST", Path: wait, Body: resume(`{"type":"approve","scope":"always"}`), Status: 403},
	})
	scopes := []string{"threads:read", "threads:write", "runs:read", "runs:create", "runs:write", "approvals:read"}
	k.Change(func(c *gateway.Config) { c.Role, c.Scopes = access.Regular, scopes })
	for _, r := range k.Routes() {
		if r.Path == "/threads/{thread_id}/runs/wait" {
			scopes = append(scopes, r.Scope)
		}
	}
	k.Change(func(c *gateway.Config) { c.Scopes = scopes })
	k.Play([]gateways.Scenario{
		{Name: "always", Method: "POST", Path: wait, Body: resume(`{"type":"approve","scope":"always"}`), Status: 403},
		{Name: "once", Method: "POST", Path: wait, Body: resume(`{"type":"approve","scope":"once"}`), Status: 200,
			Want: ran},
		{Name: "nothing", Method: "GET", Path: "/approvals?revoked=true", Status: 200, Want: `[]`},
	})
}

// TestAuditOfGrants: who gave and revoked which.
func TestAuditOfGrants(t *testing.T) {
	k := newKit(t)
	k.Vars["thread"] = "t"
	k.Play([]gateways.Scenario{
		{Name: "asks", Method: "POST", Path: wait, Body: says("ls"), Status: 200},
		{Name: "thread", Method: "POST", Path: wait, Body: resume(`{"type":"approve","scope":"thread"}`), Status: 200,
			Want: ran},
		{Name: "given", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"pwd"}`, Status: 200,
			Keep: map[string]string{"approval_id": "id"}},
		{Name: "again", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"pwd"}`, Status: 200},
		{Name: "revoked", Method: "DELETE", Path: "/approvals/{id}", Status: 204},
	})
	list, err := k.Audit.List(t.Context(), audit.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprint(e.Verb, " ", e.Kind, " ", e.Object))
	}
	id := k.Vars["id"]
	if want := "delete approval " + id + "|grant approval " + id +
		"|grant call t/call-1"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %s", got, want)
	}
	if w := k.Do("GET", "/audit", ""); w.Code != http.StatusOK {
		t.Error(w.Code)
	}
}
