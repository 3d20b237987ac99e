package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	rules "github.com/pudu-ai/pudu/internal/feature/guardrail"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// granting is a site whose calls of bash are asked about unless there is a grant. Its model runs the lines of the
// user's message, one after the other; "below X" has a run below it do X.
type granting struct {
	*site

	grants *approval.Grants
	during func(line string) // a command
	ran    []string
}

func newGranting(t *testing.T) *granting {
	t.Helper()
	g := newGrantingAt(t, t.TempDir())
	t.Cleanup(g.close)
	return g
}

func newGrantingAt(t *testing.T, dir string) *granting {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir, Features: feature.All()})
	if err != nil {
		t.Fatal(err)
	}
	return &granting{site: &site{t: t, store: st}, grants: approval.NewGrants(st)}
}

func (g *granting) close() {
	if err := g.store.Close(); err != nil {
		g.t.Error(err)
	}
}

// liner runs the lines of the last human message.
func liner(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	last, done := 0, 0
	for i, m := range req.Messages {
		switch m.Role {
		case message.Human:
			last, done = i, 0
		case message.Tool:
			done++
		}
	}
	lines := strings.Split(req.Messages[last].Text(), "\n")
	if done >= len(lines) {
		return chunks(message.Chunk{Text: req.Messages[len(req.Messages)-1].Text(), FinishReason: "stop"})
	}
	name, key, line := "bash", "command", lines[done]
	if below, ok := strings.CutPrefix(line, "below "); ok {
		name, key, line = "below", "prompt", below
	}
	args, _ := json.Marshal(map[string]string{key: line})
	call := message.ToolCallChunk{ID: fmt.Sprint("call-", len(req.Messages)), Name: name, Args: string(args)}
	return chunks(message.Chunk{ToolCalls: []message.ToolCallChunk{call}, FinishReason: "tool_calls"})
}

// runGrants are the grants of the user of the tests.
type runGrants struct{ mine *approval.Mine }

func (r runGrants) Use(ctx context.Context, c *tool.Call, now time.Time) (approval.Grant, bool, error) {
	return r.mine.Use(ctx, c.ThreadID, c.Name, c.Args, now)
}

func (g *granting) mine() *approval.Mine { return g.grants.For(user()) }

// tools are those of a run.
func (g *granting) tools(below *runs.Children) []tool.Tool {
	bash := tool.MustNew(tool.Spec{Name: "bash", Description: "Runs."},
		func(_ context.Context, _ *tool.Call, in struct {
			Command string `json:"command"`
		}) (*tool.Result, error) {
			g.mu.Lock()
			g.ran = append(g.ran, in.Command)
			g.mu.Unlock()
			if g.during != nil {
				g.during(in.Command)
			}
			return tool.Text("ran " + in.Command), nil
		})
	child := tool.MustNew(tool.Spec{Name: "below", Description: "Has a run do it."},
		func(ctx context.Context, c *tool.Call, in struct {
			Prompt string `json:"prompt"`
		}) (*tool.Result, error) {
			one, err := below.Start(ctx, c.ID,
				runs.Request{Input: []message.Message{message.New(message.Human, in.Prompt)}})
			if err != nil {
				return nil, err
			}
			out, err := one.Wait(ctx, nil)
			return tool.Text(out.Run.Status), err
		})
	return []tool.Tool{bash, child}
}

// process is a process that works at the site.
func (g *granting) process(st store.Store, owner string) *runs.Manager {
	provider, err := rules.NewRules([]config.GuardrailRule{
		{Command: config.Words{"rm*"}, Action: "deny"}, {Tools: config.Words{"below"}, Action: "allow"},
		{Action: "ask"},
	})
	if err != nil {
		panic(err)
	}
	return runs.NewManager(runs.Config{Store: st, Owner: owner,
		Build: func(_ context.Context, job runs.Job) (runs.Built, error) {
			guard := guardrail.New(guardrail.Config{Provider: provider,
				Grants: runGrants{g.grants.For(access.FromRow(job.Run.UserID))}})
			a, err := agent.New(agent.Config{Model: fakeModel(liner), Tools: g.tools(job.Children)}, guard)
			return runs.Built{Agent: a, Close: func() error { return nil }}, err
		}})
}

// do carries a request out.
func (g *granting) do(m *runs.Manager, req runs.Request) store.Run {
	g.t.Helper()
	return g.executes(m, req).Run
}

func lines(thread string, text ...string) runs.Request {
	return runs.Request{ThreadID: thread, Via: "test",
		Input: []message.Message{message.New(message.Human, strings.Join(text, "\n"))}}
}

func answer(thread, decision string) runs.Request {
	return runs.Request{ThreadID: thread, Via: "test", Resume: json.RawMessage(`{"decisions":[` + decision + `]}`)}
}

// asks and ends make sure how a run has come to its end.
func (g *granting) asks(run store.Run) {
	g.t.Helper()
	if run.Status != event.StatusInterrupted {
		g.t.Errorf("the run does not ask: %s %s, ran %q", run.Status, run.Error, g.ran)
	}
}

func (g *granting) ends(run store.Run, ran ...string) {
	g.t.Helper()
	if run.Status != event.StatusSuccess || !slices.Equal(ran, g.ran) {
		g.t.Errorf("%s %s, ran %q, want %q", run.Status, run.Error, g.ran, ran)
	}
	g.ran = nil
}

// list are the grants, in words.
func (g *granting) list() (out []string) {
	g.t.Helper()
	list, err := g.mine().List(g.t.Context(), true, 1000, 0)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, one := range list {
		out = append(out, fmt.Sprintf("%s %s exact=%t %q via %s used %d revoked %t", one.Tool, one.Pattern.Text,
			one.Pattern.Exact, one.ThreadID, one.Via,
			one.Uses, !one.RevokedAt.IsZero()))
	}
	return out
}

func (g *granting) revokeAll() {
	list, err := g.mine().List(context.Background(), false, 1000, 0)
	for _, one := range list {
		if err == nil {
			err = g.mine().Revoke(context.Background(), one.ID, time.Now())
		}
	}
	if err != nil {
		g.t.Error(err)
	}
}

func TestAnAnswerWithAScopeIsNotAskedForAgain(t *testing.T) {
	g := newGranting(t)
	m := g.process(g.store, "one")
	g.asks(g.do(m, lines("a", "git status", "git status", "ls")))
	g.asks(g.do(m, answer("a", `{"type":"approve","scope":"thread"}`))) // about ls
	g.ends(g.do(m, answer("a", `{"type":"approve","scope":"once"}`)), "git status", "git status", "ls")
	want := []string{`bash git status exact=true "a" via test used 1 revoked false`}
	if d := cmp.Diff(want, g.list()); d != "" {
		t.Error(d)
	}
	g.asks(g.do(m, lines("b", "git status"))) // another thread
	g.ends(g.do(m, answer("b", `{"type":"approve","scope":"always","pattern":"git status*"}`)), "git status")
	g.ends(g.do(m, lines("c", "git status -s", "git status")), "git status -s", "git status")
	for _, smuggled := range []string{"git status; rm x", "git status && x", "git status $(x)", "git status > x"} {
		if run := g.do(m, lines("c", smuggled)); run.Status == event.StatusSuccess && len(g.ran) > 0 {
			t.Errorf("%q was run: %q", smuggled, g.ran)
		}
	}
}

// TestWhatIsDeniedNoGrantAllows: the rules come first.
func TestWhatIsDeniedNoGrantAllows(t *testing.T) {
	g := newGranting(t)
	_, err := g.mine().Add(t.Context(),
		approval.Grant{ID: "1", Tool: "bash", Pattern: approval.Pattern{Text: "rm x", Exact: true},
			GivenAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	g.ends(g.do(g.process(g.store, "one"), lines("a", "rm x")))
}

// TestARevokedGrantIsAskedAboutAgain: in the run that works, too.
func TestARevokedGrantIsAskedAboutAgain(t *testing.T) {
	g := newGranting(t)
	m := g.process(g.store, "one")
	g.asks(g.do(m, lines("a", "ls", "ls", "ls")))
	n := 0
	g.during = func(string) {
		if n++; n == 2 {
			g.revokeAll()
		}
	}
	g.asks(g.do(m, answer("a", `{"type":"approve","scope":"always"}`)))
	if len(g.ran) != 2 {
		t.Errorf("ran %q", g.ran)
	}
	g.ends(g.do(m, answer("a", `{"type":"approve"}`)), "ls", "ls", "ls")
	if d := cmp.Diff([]string{`bash ls exact=true "" via test used 1 revoked true`}, g.list()); d != "" {
		t.Error(d)
	}
}

// TestRunsBelowHaveTheGrantsOfTheThreadAtTheTop, and no others.
func TestRunsBelowHaveTheGrantsOfTheThreadAtTheTop(t *testing.T) {
	g := newGranting(t)
	m := g.process(g.store, "one")
	g.asks(g.do(m, lines("a", "ls")))
	g.ends(g.do(m, answer("a", `{"type":"approve","scope":"thread"}`)), "ls")
	g.ends(g.do(m, lines("a", "below ls")), "ls")
	g.ends(g.do(m, lines("b", "below ls"))) // nobody answers what is asked below
	g.revokeAll()
	g.ends(g.do(m, lines("a", "below ls")))
}

func TestScopesThatAreRefused(t *testing.T) {
	g := newGranting(t)
	m := g.process(g.store, "one")
	g.asks(g.do(m, lines("a", "git status *")))
	for decision, want := range map[string]string{
		`{"type":"approve","scope":"forever"}`:                      `"forever" is no scope: once, thread or always`,
		`{"type":"approve","pattern":"git*"}`:                       "a pattern goes with",
		`{"type":"approve","scope":"always","pattern":"git*"}`:      "too wide",
		`{"type":"approve","scope":"always","pattern":"git log*"}`:  "does not cover the call",
		`{"type":"approve","scope":"thread","pattern":"git stat*"}`: "does not cover the call",
		`{"type":"reject","scope":"always"}`:                        "reject is for once",
		`{"type":"edit","args":{},"scope":"always"}`:                "edit is for once",
	} {
		_, err := m.For(user()).Admit(t.Context(), answer("a", decision))
		if !errors.Is(err, runs.ErrBadAnswer) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", decision, err)
		}
	}
	if len(g.list()) != 0 || len(g.ran) != 0 {
		t.Errorf("grants %q, ran %q", g.list(), g.ran)
	}
	// Behind a run that works nobody knows the question.
	waits := lines("a", "ls")
	waits.NotBefore = time.Now().Add(time.Hour)
	if _, err := m.For(user()).Admit(t.Context(), waits); err != nil {
		t.Fatal(err)
	}
	later := answer("a", `{"type":"approve","scope":"always"}`)
	later.Strategy = store.Enqueue
	if _, err := m.For(user()).Admit(t.Context(), later); !errors.Is(err, runs.ErrBadAnswer) ||
		!strings.Contains(err.Error(), "active run") {
		t.Errorf("behind another: %v", err)
	}
	later.Strategy = store.Reject
	if _, err := m.For(user()).Admit(t.Context(), later); !errors.Is(err, store.ErrConflict) {
		t.Errorf("beside another: %v", err)
	}
}

// TestTheSameAnswerTwiceIsOneGrant: with its key it stores nothing, also when the grant was revoked meanwhile.
func TestTheSameAnswerTwiceIsOneGrant(t *testing.T) {
	g := newGranting(t)
	m := g.process(g.store, "one")
	g.asks(g.do(m, lines("a", "ls")))
	req := answer("a", `{"type":"approve","scope":"always"}`)
	req.Key = "key"
	g.ends(g.do(m, req), "ls")
	g.revokeAll()
	if _, err := m.For(user()).Admit(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{`bash ls exact=true "" via test used 0 revoked true`}, g.list()); d != "" {
		t.Error(d)
	}
}

// TestOneListOfDecisionsHasItsScopes: two calls wait, one is granted.
func TestOneListOfDecisionsHasItsScopes(t *testing.T) {
	g := newGranting(t)
	two := fakeModel(func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		if req.Messages[len(req.Messages)-1].Text() != "two" {
			return liner(ctx, req)
		}
		return chunks(message.Chunk{FinishReason: "tool_calls", ToolCalls: []message.ToolCallChunk{
			{Index: 0, ID: "x", Name: "bash", Args: `{"command":"x"}`},
			{Index: 1, ID: "y", Name: "bash", Args: `{"command":"y"}`},
		}})
	})
	provider, _ := rules.NewRules([]config.GuardrailRule{{Action: "ask"}})
	a, err := agent.New(agent.Config{Model: two, Tools: g.tools(nil)},
		guardrail.New(guardrail.Config{Provider: provider, Grants: runGrants{g.mine()}}))
	if err != nil {
		t.Fatal(err)
	}
	m := runs.NewManager(runs.Config{Store: g.store, Owner: "one", Build: func(context.Context, runs.Job) (runs.Built,
		error) {
		return runs.Built{Agent: a, Close: func() error { return nil }}, nil
	}})
	g.asks(g.do(m, lines("a", "two")))
	g.do(m, answer("a", `{"type":"reject"},{"type":"approve","scope":"always"}`))
	if d := cmp.Diff([]string{`bash y exact=true "" via test used 0 revoked false`}, g.list()); d != "" ||
		!slices.Equal(g.ran, []string{"y"}) {
		t.Error(d, g.ran)
	}
}
