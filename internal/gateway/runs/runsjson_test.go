package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	runroutes "github.com/pudu-ai/pudu/internal/gateway/runs"
	"github.com/pudu-ai/pudu/internal/gateway/shape"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestTheTokensOfARun are told with it, in its log and to its webhook.
func TestTheTokensOfARun(t *testing.T) {
	now := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	k := gateways.New(t, func(c *gateway.Config) { c.Now = func() time.Time { return now } })
	run := k.Run("t", "spend")
	k.Vars["run"] = run.ID
	const tokens = `"total_input_tokens":10,"total_output_tokens":7,"total_tokens":17,"llm_call_count":1,"lead_agent_tokens":17,
		"subagent_tokens":0,"middleware_tokens":0,"message_count":2`
	k.Play([]gateways.Scenario{{Name: "the run", Method: "GET", Path: "/runs/{run}", Status: 200, Want: `{` + tokens +
		`}`}})
	_, end := logOf(k, run, "")
	want := runroutes.EndJSON{RunID: run.ID, ThreadID: "t", Status: "success", Attempt: 1,
		Usage: runroutes.UsageJSON{10, 7, 17, 4, 3, 2}, CreatedAt: shape.Stamp(run.CreatedAt), UpdatedAt: end.UpdatedAt}
	if end != want {
		t.Errorf("%+v, want %+v", end, want)
	}
	report, err := k.Report(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	about := `{"run_id":"` + run.ID + `","status":"success",` + tokens + `,"run_ended_at":"` +
		shape.Stamp(run.UpdatedAt) + `",
		"webhook_sent_at":"2040-01-02T03:04:05.000000+00:00","values":{"messages":[{"content":"spend"},{"content":"Spent."}]}}`
	if why := jsontest.Unlike(jsontest.Decode(t, []byte(about)), jsontest.Decode(t, report)); why != "" {
		t.Errorf("the report%s: %s", why, report)
	}
}

// TestReportsFailWithTheStore: a webhook is not told of half a run.
func TestReportsFailWithTheStore(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "hello")
	for n := int64(1); ; n++ {
		tr := &gateways.Trouble{N: n}
		report, err := k.Report(context.WithValue(t.Context(), gateways.TroubleKey{}, tr), run)
		if tr.Calls.Load() < n {
			break
		}
		if !errors.Is(err, store.ErrUnreachable) || report != nil {
			t.Errorf("call %d: %s, %v", n, report, err)
		}
	}
	run.Request = json.RawMessage("{")
	if report, err := k.Report(t.Context(), run); err == nil {
		t.Errorf("of a request that cannot be read: %s", report)
	}
}

// TestRunsThatCannotBeRead: a row that is damaged is a failure of the server, and no run without what is missing.
func TestRunsThatCannotBeRead(t *testing.T) {
	k := gateways.New(t, nil)
	k.Vars["run"] = k.Run("t", "spend").ID
	request := func(r *store.Run) { r.Request = json.RawMessage("{") }
	modes := func(r *store.Run) { r.Request = json.RawMessage(`{"stream_mode":["nope"]}`) }
	usage := func(r *store.Run) { r.Usage = json.RawMessage("{") }
	for _, c := range []struct {
		method, path string
		spoil        func(*store.Run)
	}{
		{"GET", "/runs/{run}", request}, {"GET", "/runs/{run}", usage}, {"GET", "/threads/t/runs", request},
		{"GET", "/threads/t/runs", usage}, {"GET", "/threads/t", request}, {"GET", "/threads/t/state", request},
		{"POST", "/threads/t/history", request}, {"GET", "/runs/{run}/stream", request},
		{"GET", "/runs/{run}/stream?stream_mode=values", request}, {"GET", "/runs/{run}/stream", modes},
	} {
		w := k.Send(gateways.Troubled(k.Request(c.method, k.Fill(c.path), ""), &gateways.Trouble{Spoil: c.spoil}))
		if w.Code != http.StatusInternalServerError || w.Body.String() != `{"detail":"Internal Server Error"}` {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
}

// TestRunsByStatus: one that stopped to ask has succeeded, interrupted is one that was cancelled.
func TestRunsByStatus(t *testing.T) {
	k := gateways.New(t, nil)
	k.Vars["good"] = k.Run("t", "hello").ID
	k.Vars["asked"] = k.Run("t", "ask").ID
	k.Vars["failed"] = k.Run("t", "fail").ID
	k.Vars["stopped"] = k.SubmitLater("t").ID
	k.Do("POST", "/runs/"+k.Vars["stopped"]+"/cancel", "")
	k.Vars["waits"] = k.SubmitLater("t").ID
	k.Vars["busy"] = k.Start("u").ID
	list := func(status, want string) gateways.Scenario {
		return gateways.Scenario{Name: status, Method: "GET", Path: "/threads/t/runs?status=" + status, Status: 200,
			Want: want}
	}
	k.Play([]gateways.Scenario{
		list("",
			`[{"run_id":"{waits}"},{"run_id":"{stopped}"},{"run_id":"{failed}"},{"run_id":"{asked}"},{"run_id":"{good}"}]`),
		list("success",
			`[{"run_id":"{asked}","status":"success","stop_reason":null},{"run_id":"{good}","status":"success"}]`),
		list("interrupted",
			`[{"run_id":"{stopped}","status":"interrupted","stop_reason":"cancelled","attempt":0,"not_before":"<absent>"}]`),
		list("error", `[{"run_id":"{failed}","status":"error","error":"model: the model is broken"}]`),
		list("pending", `[{"run_id":"{waits}","status":"pending","queue_position":1,"not_before":"*"}]`),
		list("running", `[]`), list("timeout", `[]`),
		{
			Name: "running", Method: "GET", Path: "/threads/u/runs?status=running", Status: 200,
			Want: `[{"run_id":"{busy}","status":"running","not_before":"<absent>","queue_position":"<absent>"}]`,
		},
		{
			Name: "those of a status among the newest that may have it", Method: "GET",
			Path: "/threads/t/runs?status=success&limit=2", Status: 200, Want: `[{"run_id":"{asked}"}]`,
		},
		{
			Name: "the newest of a status", Method: "GET", Path: "/threads/t/runs?status=error&limit=1", Status: 200,
			Want: `[{"run_id":"{failed}"}]`,
		},
		{
			Name: "an active one stays", Method: "DELETE", Path: "/runs/{waits}", Status: 409,
			Want: `{"detail":"Run {waits} is active; cancel it first"}`,
		},
		{
			Name: "a page of a status", Method: "GET", Path: "/threads/t/runs?offset=1&limit=1", Status: 200,
			Want: `[{"run_id":"{stopped}"}]`,
		},
	})
}

// TestWhatARunWasAskedFor is told as it was said.
func TestWhatARunWasAskedFor(t *testing.T) {
	now := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	k := gateways.New(t, func(c *gateway.Config) { c.Now = func() time.Time { return now } })
	k.Play([]gateways.Scenario{
		{
			Name: "much", Method: "POST", Path: "/runs", Status: 200, Keep: map[string]string{"run_id": "run"},
			Body: `{"input":{"messages":"hello"},"stream_mode":["values","updates"],"stream_subgraphs":true,
				"interrupt_before":["tools"],"interrupt_after":["model"],
				"webhook":"https://hook.example/x","after_seconds":90.5,"config":{"tags":["a"]},"context":{"k":1},"metadata":{"m":1}}`,
			Want: `{"status":"pending","not_before":"2040-01-02T03:05:35.500000+00:00","metadata":{"m":1},
				"kwargs":{"input":{"messages":[{"type":"human","content":"hello"}]},"command":"<absent>",
				"config":{"tags":["a"]},"context":{"k":1},"stream_mode":["values","updates"],"subgraphs":true,
				"interrupt_before":["tools"],"interrupt_after":["model"],"webhook":"https://hook.example/x"}}`,
		},
		{
			Name: "nothing", Method: "POST", Path: "/runs", Status: 200, Body: `{"input":{},"after_seconds":0}`,
			Want: `{"not_before":"<absent>","metadata":{},"kwargs":{"input":null,"config":{},"context":{},
				"stream_mode":null,"subgraphs":false,"webhook":null}}`,
		},
		{
			Name: "a node to go to", Method: "POST", Path: "/runs", Status: 200, Body: `{"command":{"goto":"__end__"}}`,
			Want: `{"kwargs":{"input":null,"command":{"goto":"__end__","resume":"<absent>"}}}`,
		},
	})
	run, err := k.Data().Run(t.Context(), k.Vars["run"])
	if want := now.Add(90500 * time.Millisecond); err != nil || !run.NotBefore.Equal(want) {
		t.Errorf("it starts at %v, not at %v, %v", run.NotBefore, want, err)
	}
}

// lost is a store that cannot say where a run stands.
type lost struct {
	store.Store

	at       int
	err, run error
	asked    int
}

func (l *lost) For(u access.User) store.UserData { return lostData{l.Store.For(u), l} }

type lostData struct {
	store.UserData
	l *lost
}

func (d lostData) Position(context.Context, string) (int, error) {
	d.l.asked++
	return d.l.at, d.l.err
}

func (d lostData) Run(ctx context.Context, id string) (store.Run, error) {
	if d.l.run != nil && d.l.asked > 0 {
		return store.Run{}, d.l.run
	}
	return d.UserData.Run(ctx, id)
}

// TestAPlaceThatIsNotKnown is left out: the run is there all the same.
func TestAPlaceThatIsNotKnown(t *testing.T) {
	st := &lost{}
	k := gateways.New(t, func(c *gateway.Config) { st.Store, c.Store = c.Store, st })
	run, ended := k.SubmitLater("t"), k.Run("u", "hello")
	for _, c := range []struct{ err, run error }{{err: store.ErrUnreachable}, {run: store.ErrUnreachable}} {
		st.err, st.run, st.asked = c.err, c.run, 0
		k.Play([]gateways.Scenario{{
			Name: "it waits", Method: "GET", Path: "/runs/" + run.ID, Status: 200,
			Want: `{"status":"pending","run_id":"` + run.ID + `","queue_position":"<absent>"}`,
		}})
	}
	st.asked, st.run = 0, nil
	k.Play([]gateways.Scenario{{
		Name: "one that does not", Method: "GET", Path: "/runs/" + ended.ID, Status: 200,
		Want: `{"status":"success"}`,
	}})
	if st.asked > 0 {
		t.Error("it is asked for the place of a run that does not wait")
	}
}

// TestCancelManyRuns: those that are meant, and no others.
func TestCancelManyRuns(t *testing.T) {
	k := gateways.New(t, nil)
	cancel := func(name, path, body string, status int, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "POST", Path: path, Body: body, Status: status, Want: want}
	}
	later := func(thread, name string) { k.Vars[name] = k.SubmitLater(thread).ID }
	later("t", "a")
	later("t", "b")
	later("u", "c")
	k.Vars["busy"] = k.Start("v").ID
	status := func(run, want string) gateways.Scenario {
		return gateways.Scenario{
			Name: run, Method: "GET", Path: "/runs/{" + run + "}", Status: 200, Want: `{"status":"` + want + `"}`,
		}
	}
	k.Play([]gateways.Scenario{
		cancel("both", "/runs/cancel", `{"status":"all","thread_id":"t","run_ids":["{a}"]}`, 422,
			`{"detail":[{"type":"value_error","loc":["body"]}]}`),
		cancel("no status", "/runs/cancel", `{"status":"error"}`, 422, `{"detail":[{"loc":["body","status"]}]}`),
		cancel("no action", "/runs/cancel?action=kill", `{"status":"all"}`, 422,
			`{"detail":[{"loc":["query","action"],"input":"kill","ctx":{"expected":"'interrupt' or 'rollback'"}}]}`),
		cancel("of another thread", "/runs/cancel", `{"thread_id":"t","run_ids":["{c}"]}`, 404,
			`{"detail":"No matching runs to cancel"}`),
		cancel("one", "/runs/cancel", `{"thread_id":"t","run_ids":["{a}","x"]}`, 204, ""),
		status("a", "interrupted"), status("b", "pending"), status("c", "pending"), status("busy", "running"),
		cancel("those that wait", "/runs/cancel", `{"status":"pending"}`, 204, ""),
		status("b", "interrupted"), status("c", "interrupted"), status("busy", "running"),
	})
	later("t", "a")
	k.Play([]gateways.Scenario{
		cancel("all, by a rollback", "/runs/cancel?action=rollback", `{"status":"all"}`, 204, ""),
		{Name: "its end", Method: "GET", Path: "/runs/{busy}/join", Status: 200}, status("busy", "error"),
	})
	k.Vars["busy"] = k.Start("v").ID
	later("t", "a")
	k.Play([]gateways.Scenario{
		cancel("those that run", "/runs/cancel", `{"status":"running"}`, 204, ""),
		{
			Name: "its end", Method: "GET", Path: "/runs/{busy}/join", Status: 200,
		}, status("busy", "interrupted"), status("a", "pending"),
	})
}

// TestABatchOfRuns: as many as may be, each a run of its own whatever the key.
func TestABatchOfRuns(t *testing.T) {
	k := gateways.New(t, nil)
	run := `{"input":{},"after_seconds":3600}`
	for n, status := range map[int]int{runroutes.MaxBatch: 200, runroutes.MaxBatch + 1: 422, 0: 200} {
		r := k.Request("POST", "/runs/batch", jsontest.ListOf(n, run))
		r.Header.Set("Idempotency-Key", "once")
		w := k.Send(r)
		list, _ := jsontest.Decode(t, w.Body.Bytes()).([]any)
		ids := make(map[any]bool)
		for _, one := range list {
			ids[jsontest.At(one, "run_id")] = true
		}
		if w.Code != status || status == 200 && len(ids) != n || w.Header().Get("Content-Location") != "" {
			t.Errorf("%d: %d, %d runs, %v: %.300s", n, w.Code, len(ids), w.Header(), w.Body)
		}
		if want := `{"detail":[{"type":"too_long","loc":["body"],"msg":"List should have at most 100 items"}]}`; status == 422 {
			if why := jsontest.Unlike(jsontest.Decode(t, []byte(want)), jsontest.Decode(t, w.Body.Bytes())); why != "" {
				t.Error(why)
			}
		}
	}
	k.Play([]gateways.Scenario{
		{
			Name: "no list", Method: "POST", Path: "/runs/batch", Body: `{}`, Status: 422,
			Want: `{"detail":[{"type":"list_type","loc":["body"],"input":{}}]}`,
		},
		{
			Name: "an unknown assistant", Method: "POST", Path: "/runs/batch", Body: `[{"assistant_id":"nobody"}]`,
			Status: 404, Want: `{"detail":"Assistant nobody not found"}`,
		},
	})
	for n := int64(1); n <= 2; n++ { // the second one's admission is refused
		w := k.Send(gateways.Troubled(k.Request("POST", "/runs/batch", jsontest.ListOf(2, run)),
			&gateways.Trouble{N: n}))
		list, _ := jsontest.Decode(t, w.Body.Bytes()).([]any)
		if len(list) != 2 || jsontest.At(list[n-1],
			"detail") != "The server's database cannot be reached; try again" ||
			jsontest.At(list[n-1], "status") != "error" ||
			jsontest.At(list[2-n], "status") != event.StatusPending {
			t.Errorf("call %d: %s", n, w.Body)
		}
	}
}
