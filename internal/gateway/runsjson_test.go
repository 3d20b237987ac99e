package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestTheTokensOfARun are told with it, in its log and to its webhook.
func TestTheTokensOfARun(t *testing.T) {
	now := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	k := newServer(t, func(c *Config) { c.Now = func() time.Time { return now } })
	run := k.run("t", "spend")
	k.vars["run"] = run.ID
	const tokens = `"total_input_tokens":10,"total_output_tokens":7,"total_tokens":17`
	k.play([]scenario{{name: "the run", method: "GET", path: "/runs/{run}", status: 200, want: `{` + tokens + `}`}})
	_, end := k.logOf(run, "")
	want := endJSON{RunID: run.ID, ThreadID: "t", Status: "success", Attempt: 1, Usage: usageJSON{10, 7, 17, 4, 3, 2}, CreatedAt: stamp(run.CreatedAt), UpdatedAt: end.UpdatedAt}
	if end != want {
		t.Errorf("%+v, want %+v", end, want)
	}
	report, err := k.Report(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	about := `{"run_id":"` + run.ID + `","status":"success",` + tokens + `,"run_ended_at":"` + stamp(run.UpdatedAt) + `",
		"webhook_sent_at":"2040-01-02T03:04:05.000000+00:00","values":{"messages":[{"content":"spend"},{"content":"Spent."}]}}`
	if why := unlike(decode(t, []byte(about)), decode(t, report)); why != "" {
		t.Errorf("the report%s: %s", why, report)
	}
}

// TestReportsFailWithTheStore: a webhook is not told of half a run.
func TestReportsFailWithTheStore(t *testing.T) {
	k := newServer(t, nil)
	run := k.run("t", "hello")
	for n := int64(1); ; n++ {
		tr := &trouble{n: n}
		report, err := k.Report(context.WithValue(t.Context(), troubleKey{}, tr), run)
		if tr.calls.Load() < n {
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
	k := newServer(t, nil)
	k.vars["run"] = k.run("t", "spend").ID
	request := func(r *store.Run) { r.Request = json.RawMessage("{") }
	modes := func(r *store.Run) { r.Request = json.RawMessage(`{"stream_mode":["nope"]}`) }
	usage := func(r *store.Run) { r.Usage = json.RawMessage("{") }
	for _, c := range []struct {
		method, path string
		spoil        func(*store.Run)
	}{
		{"GET", "/runs/{run}", request}, {"GET", "/runs/{run}", usage}, {"GET", "/threads/t/runs", request}, {"GET", "/threads/t/runs", usage},
		{"GET", "/threads/t", request}, {"GET", "/threads/t/state", request}, {"POST", "/threads/t/history", request},
		{"GET", "/runs/{run}/stream", request}, {"GET", "/runs/{run}/stream?stream_mode=values", request}, {"GET", "/runs/{run}/stream", modes},
	} {
		w := k.send(troubled(k.request(c.method, k.fill(c.path), ""), &trouble{spoil: c.spoil}))
		if w.Code != http.StatusInternalServerError || w.Body.String() != `{"detail":"Internal Server Error"}` {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
}

// TestRunsByStatus: one that stopped to ask has succeeded, interrupted is one that was cancelled.
func TestRunsByStatus(t *testing.T) {
	k := newServer(t, nil)
	k.vars["good"] = k.run("t", "hello").ID
	k.vars["asked"] = k.run("t", "ask").ID
	k.vars["failed"] = k.run("t", "fail").ID
	k.vars["stopped"] = k.submitLater("t").ID
	k.do("POST", "/runs/"+k.vars["stopped"]+"/cancel", "")
	k.vars["waits"] = k.submitLater("t").ID
	k.vars["busy"] = k.start("u").ID
	list := func(status, want string) scenario {
		return scenario{name: status, method: "GET", path: "/threads/t/runs?status=" + status, status: 200, want: want}
	}
	k.play([]scenario{
		list("", `[{"run_id":"{waits}"},{"run_id":"{stopped}"},{"run_id":"{failed}"},{"run_id":"{asked}"},{"run_id":"{good}"}]`),
		list("success", `[{"run_id":"{asked}","status":"success","stop_reason":null},{"run_id":"{good}","status":"success"}]`),
		list("interrupted", `[{"run_id":"{stopped}","status":"interrupted","stop_reason":"cancelled","attempt":0,"not_before":"<absent>"}]`),
		list("error", `[{"run_id":"{failed}","status":"error","error":"model: the model is broken"}]`),
		list("pending", `[{"run_id":"{waits}","status":"pending","queue_position":1,"not_before":"*"}]`),
		list("running", `[]`), list("timeout", `[]`),
		{name: "running", method: "GET", path: "/threads/u/runs?status=running", status: 200, want: `[{"run_id":"{busy}","status":"running","not_before":"<absent>","queue_position":"<absent>"}]`},
		{name: "those of a status among the newest that may have it", method: "GET", path: "/threads/t/runs?status=success&limit=2", status: 200, want: `[{"run_id":"{asked}"}]`},
		{name: "the newest of a status", method: "GET", path: "/threads/t/runs?status=error&limit=1", status: 200, want: `[{"run_id":"{failed}"}]`},
		{name: "an active one stays", method: "DELETE", path: "/runs/{waits}", status: 409, want: `{"detail":"Run {waits} is active; cancel it first"}`},
		{name: "a page of a status", method: "GET", path: "/threads/t/runs?offset=1&limit=1", status: 200, want: `[{"run_id":"{stopped}"}]`},
	})
}

// TestWhatARunWasAskedFor is told as it was said.
func TestWhatARunWasAskedFor(t *testing.T) {
	now := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	k := newServer(t, func(c *Config) { c.Now = func() time.Time { return now } })
	k.play([]scenario{
		{
			name: "much", method: "POST", path: "/runs", status: 200, keep: map[string]string{"run_id": "run"},
			body: `{"input":{"messages":"hello"},"stream_mode":["values","updates"],"stream_subgraphs":true,"interrupt_before":["tools"],"interrupt_after":["model"],
				"webhook":"https://hook.example/x","after_seconds":90.5,"config":{"tags":["a"]},"context":{"k":1},"metadata":{"m":1}}`,
			want: `{"status":"pending","not_before":"2040-01-02T03:05:35.500000+00:00","metadata":{"m":1},"kwargs":{"input":{"messages":[{"type":"human","content":"hello"}]},"command":"<absent>",
				"config":{"tags":["a"]},"context":{"k":1},"stream_mode":["values","updates"],"subgraphs":true,"interrupt_before":["tools"],"interrupt_after":["model"],"webhook":"https://hook.example/x"}}`,
		},
		{
			name: "nothing", method: "POST", path: "/runs", status: 200, body: `{"input":{},"after_seconds":0}`,
			want: `{"not_before":"<absent>","metadata":{},"kwargs":{"input":null,"config":{},"context":{},"stream_mode":null,"subgraphs":false,"webhook":null}}`,
		},
		{
			name: "a node to go to", method: "POST", path: "/runs", status: 200, body: `{"command":{"goto":"__end__"}}`,
			want: `{"kwargs":{"input":null,"command":{"goto":"__end__","resume":"<absent>"}}}`,
		},
	})
	run, err := k.data().Run(t.Context(), k.vars["run"])
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
	k := newServer(t, func(c *Config) { st.Store, c.Store = c.Store, st })
	run, ended := k.submitLater("t"), k.run("u", "hello")
	for _, c := range []struct{ err, run error }{{err: store.ErrUnreachable}, {run: store.ErrUnreachable}} {
		st.err, st.run, st.asked = c.err, c.run, 0
		k.play([]scenario{{name: "it waits", method: "GET", path: "/runs/" + run.ID, status: 200, want: `{"status":"pending","run_id":"` + run.ID + `","queue_position":"<absent>"}`}})
	}
	st.asked, st.run = 0, nil
	k.play([]scenario{{name: "one that does not", method: "GET", path: "/runs/" + ended.ID, status: 200, want: `{"status":"success"}`}})
	if st.asked > 0 {
		t.Error("it is asked for the place of a run that does not wait")
	}
}

// TestCancelManyRuns: those that are meant, and no others.
func TestCancelManyRuns(t *testing.T) {
	k := newServer(t, nil)
	cancel := func(name, path, body string, status int, want string) scenario {
		return scenario{name: name, method: "POST", path: path, body: body, status: status, want: want}
	}
	later := func(thread, name string) { k.vars[name] = k.submitLater(thread).ID }
	later("t", "a")
	later("t", "b")
	later("u", "c")
	k.vars["busy"] = k.start("v").ID
	status := func(run, want string) scenario {
		return scenario{name: run, method: "GET", path: "/runs/{" + run + "}", status: 200, want: `{"status":"` + want + `"}`}
	}
	k.play([]scenario{
		cancel("both", "/runs/cancel", `{"status":"all","thread_id":"t","run_ids":["{a}"]}`, 422, `{"detail":[{"type":"value_error","loc":["body"]}]}`),
		cancel("no status", "/runs/cancel", `{"status":"error"}`, 422, `{"detail":[{"loc":["body","status"]}]}`),
		cancel("no action", "/runs/cancel?action=kill", `{"status":"all"}`, 422, `{"detail":[{"loc":["query","action"],"input":"kill","ctx":{"expected":"'interrupt' or 'rollback'"}}]}`),
		cancel("of another thread", "/runs/cancel", `{"thread_id":"t","run_ids":["{c}"]}`, 404, `{"detail":"No matching runs to cancel"}`),
		cancel("one", "/runs/cancel", `{"thread_id":"t","run_ids":["{a}","x"]}`, 204, ""),
		status("a", "interrupted"), status("b", "pending"), status("c", "pending"), status("busy", "running"),
		cancel("those that wait", "/runs/cancel", `{"status":"pending"}`, 204, ""),
		status("b", "interrupted"), status("c", "interrupted"), status("busy", "running"),
	})
	later("t", "a")
	k.play([]scenario{
		cancel("all, by a rollback", "/runs/cancel?action=rollback", `{"status":"all"}`, 204, ""),
		{name: "its end", method: "GET", path: "/runs/{busy}/join", status: 200}, status("busy", "error"),
	})
	k.vars["busy"] = k.start("v").ID
	later("t", "a")
	k.play([]scenario{
		cancel("those that run", "/runs/cancel", `{"status":"running"}`, 204, ""),
		{name: "its end", method: "GET", path: "/runs/{busy}/join", status: 200}, status("busy", "interrupted"), status("a", "pending"),
	})
}

// TestABatchOfRuns: as many as may be, each a run of its own whatever the key.
func TestABatchOfRuns(t *testing.T) {
	k := newServer(t, nil)
	run := `{"input":{},"after_seconds":3600}`
	for n, status := range map[int]int{maxBatch: 200, maxBatch + 1: 422, 0: 200} {
		r := k.request("POST", "/runs/batch", listOf(n, run))
		r.Header.Set("Idempotency-Key", "once")
		w := k.send(r)
		list, _ := decode(t, w.Body.Bytes()).([]any)
		ids := make(map[any]bool)
		for _, one := range list {
			ids[at(one, "run_id")] = true
		}
		if w.Code != status || status == 200 && len(ids) != n || w.Header().Get("Content-Location") != "" {
			t.Errorf("%d: %d, %d runs, %v: %.300s", n, w.Code, len(ids), w.Header(), w.Body)
		}
		if want := `{"detail":[{"type":"too_long","loc":["body"],"msg":"List should have at most 100 items"}]}`; status == 422 {
			if why := unlike(decode(t, []byte(want)), decode(t, w.Body.Bytes())); why != "" {
				t.Error(why)
			}
		}
	}
	k.play([]scenario{
		{name: "no list", method: "POST", path: "/runs/batch", body: `{}`, status: 422, want: `{"detail":[{"type":"list_type","loc":["body"],"input":{}}]}`},
		{name: "an unknown assistant", method: "POST", path: "/runs/batch", body: `[{"assistant_id":"nobody"}]`, status: 404, want: `{"detail":"Assistant nobody not found"}`},
	})
	for n := int64(1); n <= 2; n++ { // the second one's admission is refused
		w := k.send(troubled(k.request("POST", "/runs/batch", listOf(2, run)), &trouble{n: n}))
		list, _ := decode(t, w.Body.Bytes()).([]any)
		if len(list) != 2 || at(list[n-1], "detail") != "The server's database cannot be reached; try again" || at(list[n-1], "status") != "error" ||
			at(list[2-n], "status") != event.StatusPending {
			t.Errorf("call %d: %s", n, w.Body)
		}
	}
}
