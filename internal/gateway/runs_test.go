package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// frame is one server-sent event.
type frame struct{ event, data, id string }

// parseSSE reads the frames of a stream; comments are left out.
func parseSSE(t *testing.T, body string) (out []frame) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		var f frame
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "event":
				f.event = value
			case "data":
				f.data = value
			case "id":
				f.id = value
			case "":
			default:
				t.Errorf("line %q", line)
			}
		}
		if f.event != "" {
			out = append(out, f)
		}
	}
	return out
}

func events(fs []frame) (names []string) {
	for _, f := range fs {
		names = append(names, f.event)
	}
	return names
}

func TestRunRoutes(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	ask := func(text string) string { return `{"assistant_id":"lead_agent","input":{"messages":"` + text + `"}}` }
	k.play([]scenario{
		{
			name: "wait", method: "POST", path: "/threads/t/runs/wait", body: ask("hello"), status: 200,
			want:    `{"messages":[{"type":"human","content":"hello"},{"type":"ai","content":"Hi there."}],"__error__":"<absent>","__interrupt__":"<absent>"}`,
			headers: map[string]string{"Content-Type": "application/json"},
		},
		{name: "list", method: "GET", path: "/threads/t/runs", status: 200, want: `[{"status":"success","thread_id":"t"}]`, keep: map[string]string{"0.run_id": "run"}},
		{
			name: "get", method: "GET", path: "/api/threads/t/runs/{run}", status: 200,
			want: `{"run_id":"{run}","thread_id":"t","assistant_id":"lead_agent","status":"success","metadata":{},"kwargs":{"input":{"messages":[{"content":"hello"}]},"config":{}},
				"multitask_strategy":"enqueue","created_at":"*","updated_at":"*","total_tokens":0,"stop_reason":null,"error":null,"queue_position":"<absent>"}`,
		},
		{name: "get of another thread", method: "GET", path: "/threads/other/runs/{run}", status: 404, want: `{"detail":"Run {run} not found"}`},
		{name: "get by itself", method: "GET", path: "/runs/{run}", status: 200, want: `{"thread_id":"t"}`},
		{name: "cancel at its end", method: "POST", path: "/threads/t/runs/{run}/cancel", status: 409, want: `{"detail":"Run {run} is not cancellable (status: success)"}`},
		{name: "cancel in an unknown way", method: "POST", path: "/threads/t/runs/{run}/cancel?action=kill", status: 422, want: `{"detail":[{"type":"literal_error","loc":["query","action"]}]}`},
		{name: "cancel of none", method: "POST", path: "/threads/t/runs/nope/cancel", status: 404},
		{name: "join at its end", method: "GET", path: "/threads/t/runs/{run}/join", status: 200, want: `{"messages":[{},{}]}`, headers: map[string]string{"Location": "/threads/t/runs/{run}/join"}},
		{name: "list by status", method: "GET", path: "/threads/t/runs?status=error", status: 200, want: `[]`},
		{name: "list by no status", method: "GET", path: "/threads/t/runs?status=funny", status: 200, want: `[]`},
		{name: "list of none", method: "GET", path: "/threads/nope/runs", status: 200, want: `[]`},
		{name: "list too many", method: "GET", path: "/threads/t/runs?limit=9999", status: 422},
		{name: "delete", method: "DELETE", path: "/threads/t/runs/{run}", status: 204},
		{name: "deleted", method: "GET", path: "/threads/t/runs/{run}", status: 404},
		{name: "its state stays", method: "GET", path: "/threads/t/state", status: 200, want: `{"values":{"messages":[{},{}]}}`},

		{name: "on no thread", method: "POST", path: "/threads/nope/runs", body: ask("hello"), status: 404, want: `{"detail":"Thread nope not found"}`},
		{name: "on somebody else's", method: "POST", path: "/threads/theirs/runs", body: ask("hello"), status: 404},
		{name: "on a new thread", method: "POST", path: "/threads/new/runs/wait", body: `{"if_not_exists":"create","input":{"messages":[["user","hi"]]}}`, status: 200, want: `{"messages":[{"content":"hi"},{}]}`},
		{name: "on a bad id", method: "POST", path: "/threads/a%20b/runs", body: ask("hello"), status: 422, want: `{"detail":[{"type":"string_pattern_mismatch","loc":["path","thread_id"]}]}`},
		{name: "of an unknown assistant", method: "POST", path: "/threads/t/runs", body: `{"assistant_id":"nobody","input":{}}`, status: 404},
		{name: "of nothing", method: "POST", path: "/threads/t/runs/wait", body: `{}`, status: 200, want: `{"__error__":{"message":"there is nothing to go on with: the thread's last run has ended; give an input"}}`},
		{name: "an answer that nobody waits for", method: "POST", path: "/threads/t/runs/wait", body: `{"command":{"resume":"yes"}}`, status: 200, want: `{"messages":[{},{}],"__error__":"<absent>"}`},
		{name: "from no checkpoint", method: "POST", path: "/threads/t/runs", body: `{"input":{},"checkpoint_id":"nope"}`, status: 404, want: `{"detail":"Checkpoint nope not found"}`},
		{name: "from another thread's", method: "POST", path: "/threads/t/runs", body: `{"checkpoint":{"thread_id":"x","checkpoint_id":"y"}}`, status: 422},
		{name: "a model failure", method: "POST", path: "/threads/t/runs/wait", body: ask("fail"), status: 200, want: `{"__error__":{"error":"RunError","message":"model: the model is broken"}}`},
		{name: "an answer that tells of one", method: "POST", path: "/threads/excused/runs/wait", body: `{"if_not_exists":"create","input":{"messages":["excuse"]}}`, status: 200, want: `{"messages":[{},{"content":"LLM request failed"}],"__error__":"<absent>"}`},
		{name: "of which the thread tells, too", method: "GET", path: "/threads/excused", status: 200, want: `{"status":"error","error":{"error":"RunError","message":"LLM request failed"}}`},

		{name: "no JSON", method: "POST", path: "/threads/t/runs", body: `{`, status: 422, want: `{"detail":[{"type":"json_invalid","loc":["body",1],"msg":"JSON decode error"}]}`},
		{name: "no object", method: "POST", path: "/threads/t/runs", body: `[]`, status: 422, want: `{"detail":[{"type":"model_attributes_type"}]}`},
		{name: "an input of the wrong type", method: "POST", path: "/threads/t/runs", body: `{"input":"hello"}`, status: 422, want: `{"detail":[{"type":"dict_type","loc":["body","input"],"input":"hello"}]}`},
		{name: "a message of no role", method: "POST", path: "/threads/t/runs", body: `{"input":{"messages":[{"content":"x"}]}}`, status: 422, want: `{"detail":[{"type":"value_error","loc":["body","input","messages"],"input":[{"content":"x"}]}]}`},
		{name: "an unknown mode", method: "POST", path: "/threads/t/runs/stream", body: `{"stream_mode":["values","events"]}`, status: 422, want: `{"detail":[{"type":"unsupported_stream_mode","loc":["body","stream_mode"]}]}`},
		{name: "several faults", method: "POST", path: "/threads/t/runs", body: `{"multitask_strategy":"x","on_disconnect":"y","if_not_exists":"z","after_seconds":-1,"config":{"recursion_limit":0},"webhook":"ftp://x"}`, status: 422,
			want: `{"detail":[{"loc":["body","on_disconnect"]},{"loc":["body","multitask_strategy"]},{"loc":["body","if_not_exists"]},{"loc":["body","after_seconds"]},{"loc":["body","webhook"]},{"loc":["body","config","recursion_limit"]}]}`},
		{name: "a secret in the metadata", method: "POST", path: "/threads/t/runs", body: `{"metadata":{"auth_token":"x"}}`, status: 422},
		{name: "options that others refuse", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"hello"},"stream_resumable":true,"durability":"sync","feedback_keys":["a"],"stream_subgraphs":true,"checkpoint":{"checkpoint_map":null},"langsmith_tracer":{}}`, status: 200},
		{name: "nested too deep", method: "POST", path: "/threads/t/runs", body: `{"input":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, status: 422},
		{name: "unknown path", method: "GET", path: "/threads/t/nope", status: 404, want: `{"detail":"Not Found"}`},
		{name: "wrong method", method: "PUT", path: "/threads/t/runs", status: 405, want: `{"detail":"Method Not Allowed"}`, headers: map[string]string{"Allow": "GET, POST"}},
		{name: "a slash more", method: "GET", path: "/api/langgraph/threads/t/runs/", status: 200},
	})
}

func TestSecretsAreNotKept(t *testing.T) {
	k := newServer(t, nil)
	k.play([]scenario{{
		name: "run", method: "POST", path: "/runs", status: 200,
		body: `{"input":{"messages":"hello"},"config":{"context":{"secrets":{"k":"hush"},"a":1},"tags":["x"]},"context":{"secrets":{"k":"hush"},"__x":1,"b":2}}`,
		want: `{"kwargs":{"config":{"context":{"a":1,"secrets":"<absent>"},"tags":["x"]},"context":{"b":2,"secrets":"<absent>","__x":"<absent>"}}}`,
		keep: map[string]string{"run_id": "run", "thread_id": "t"},
	}})
	run, err := k.data().Run(t.Context(), k.vars["run"])
	if err != nil || strings.Contains(string(run.Request), "hush") {
		t.Errorf("%s, %v", run.Request, err)
	}
}

func TestStream(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	w := k.do("POST", "/api/langgraph/threads/t/runs/stream", `{"input":{"messages":"hello"},"stream_mode":["values","messages-tuple","updates"]}`)
	run := strings.TrimPrefix(w.Header().Get("Content-Location"), "/api/threads/t/runs/")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no", "Connection": "keep-alive",
		"Content-Location": "/api/threads/t/runs/" + run, "Location": "/threads/t/runs/" + run + "/stream",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	all := parseSSE(t, w.Body.String())
	if names := strings.Join(events(all), " "); names != "metadata values messages messages messages updates values end" {
		t.Errorf("frames: %s", names)
	}
	for i, f := range all {
		if f.id == "" {
			t.Errorf("frame %d (%s) has no id", i, f.event)
		}
		r := k.request("GET", "/threads/t/runs/"+run+"/stream?stream_mode=values&stream_mode=messages-tuple&stream_mode=updates", "")
		r.Header.Set("Last-Event-ID", f.id)
		rest := parseSSE(t, k.send(r).Body.String())
		if len(rest) != len(all)-i-1 || len(rest) > 0 && rest[0] != all[i+1] {
			t.Errorf("after %s come %v", f.id, events(rest))
		}
	}
	for path, want := range map[string]string{
		"":                                   strings.Join(events(all), " "), // the run's own modes
		`?stream_mode=["values","updates"]`:  "metadata values updates values end",
		"?stream_mode=values,custom":         "metadata values values end",
		"?stream_mode=&cancel_on_disconnect": strings.Join(events(all), " "),
	} {
		r := k.request("GET", "/threads/t/runs/"+run+"/stream"+strings.ReplaceAll(path, `"`, "%22"), "")
		r.Header.Set("Last-Event-ID", "-1")
		if got := strings.Join(events(parseSSE(t, k.send(r).Body.String())), " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if w := k.do("GET", "/threads/t/runs/"+run+"/stream?stream_mode=nope", ""); w.Code != 422 {
		t.Errorf("status %d", w.Code)
	}
}

// follow starts following a run and returns what comes until it ends.
func (k *kit) follow(path string) <-chan []frame {
	out := make(chan []frame, 1)
	go func() { out <- parseSSE(k.t, k.do("GET", path, "").Body.String()) }()
	return out
}

func TestCancelRoutes(t *testing.T) {
	for name, c := range map[string]struct {
		path         string
		code         int
		status, left string
	}{
		"interrupt":      {"/threads/t/runs/{run}/cancel?wait=1", 204, "interrupted", `[{"content":"hello"},{},{"content":"wait"}]`},
		"rollback":       {"/threads/t/runs/{run}/cancel?wait=true&action=rollback", 204, "error", `[{"content":"hello"},{}]`},
		"without a wait": {"/threads/t/runs/{run}/cancel", 202, "interrupted", `[{"content":"hello"},{},{"content":"wait"}]`},
		"by the stream":  {"/threads/t/runs/{run}/stream?action=interrupt&wait=1", 204, "interrupted", `[{"content":"hello"},{},{"content":"wait"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			k := newServer(t, nil)
			k.run("t", "hello")
			run := k.start("t")
			k.vars["run"] = run.ID
			reader := k.follow("/threads/t/runs/" + run.ID + "/stream")
			k.play([]scenario{
				{name: "busy", method: "GET", path: "/threads/t", status: 200, want: `{"status":"busy"}`},
				{name: "cancel", method: "POST", path: c.path, status: c.code},
			})
			if got := events(<-reader); got[len(got)-1] != "end" || strings.Contains(strings.Join(got, " "), "error") {
				t.Errorf("the reader saw %v", got)
			}
			k.play([]scenario{
				{name: "afterwards", method: "GET", path: "/threads/t/runs/{run}", status: 200, want: `{"status":"` + c.status + `","stop_reason":"cancelled"}`},
				{name: "its thread", method: "GET", path: "/threads/t/state", status: 200, want: `{"values":{"messages":` + c.left + `}}`},
				{name: "again", method: "POST", path: "/threads/t/runs/{run}/cancel", status: 202},
				{name: "goes on", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"hello"}}`, status: 200},
			})
		})
	}
}

func TestStrategies(t *testing.T) {
	order := func(strategy string) string {
		return `{"input":{"messages":"hello"},"multitask_strategy":"` + strategy + `"}`
	}
	for strategy, first := range map[string]string{"enqueue": "success", "interrupt": "interrupted", "rollback": "error"} {
		t.Run(strategy, func(t *testing.T) {
			k := newServer(t, nil)
			k.vars["first"] = k.start("t").ID
			k.play([]scenario{
				{name: "reject", method: "POST", path: "/threads/t/runs", body: order("reject"), status: 409},
				{name: strategy, method: "POST", path: "/threads/t/runs", body: order(strategy), status: 200, want: `{"status":"pending","queue_position":1,"attempt":0}`, keep: map[string]string{"run_id": "second"}},
			})
			if strategy == "enqueue" {
				k.free()
			}
			k.play([]scenario{
				{name: "the second", method: "GET", path: "/threads/t/runs/{second}/join", status: 200, want: `{"messages":"*"}`},
				{name: "its end", method: "GET", path: "/threads/t/runs/{second}", status: 200, want: `{"status":"success"}`},
				{name: "the first", method: "GET", path: "/threads/t/runs/{first}", status: 200, want: `{"status":"` + first + `"}`},
			})
		})
	}
}

func TestQuestionsOverTheAPI(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	k.play([]scenario{
		{name: "ask", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"ask"}}`, status: 200, want: `{"__interrupt__":[{"id":"*","value":"may I?"}]}`, keep: map[string]string{"__interrupt__.0.id": "question"}},
		{name: "the run", method: "GET", path: "/threads/t/runs", status: 200, want: `[{"status":"success"}]`},
		{name: "the thread", method: "GET", path: "/threads/t", status: 200, want: `{"status":"interrupted"}`},
		{name: "answer by id", method: "POST", path: "/threads/t/runs/wait", body: `{"command":{"resume":{"{question}":"by id"}}}`, status: 200, want: `{"messages":[{},{},{"type":"tool","content":"you said \"by id\""},{}]}`},
		{name: "ask again", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"ask"}}`, status: 200, want: `{"__interrupt__":"*"}`},
		{name: "another turn", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"hello"}}`, status: 200, want: `{"__interrupt__":"<absent>"}`},
		{name: "nothing waits", method: "GET", path: "/threads/t", status: 200, want: `{"status":"idle","interrupts":{}}`},

		{name: "a breakpoint", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"count"},"interrupt_before":["tools"]}`, status: 200, want: `{"__interrupt__":"<absent>"}`},
		{name: "its state", method: "GET", path: "/threads/t/state", status: 200, want: `{"next":["tools"]}`, keep: map[string]string{"checkpoint_id": "fork"}},
		{name: "behind it", method: "POST", path: "/threads/t/runs/wait", body: `{"input":null}`, status: 200},
		{name: "the end", method: "GET", path: "/threads/t/state", status: 200, want: `{"next":[]}`},
		{name: "from there again", method: "POST", path: "/threads/t/runs/wait", body: `{"checkpoint_id":"{fork}"}`, status: 200},
		{name: "a branch", method: "GET", path: "/threads/t/state", status: 200, want: `{"next":[]}`},
		{name: "from the empty state", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"anew"},"checkpoint":{"checkpoint_id":"0","checkpoint_ns":""}}`, status: 200, want: `{"messages":[{"content":"anew"},{}]}`},
		{name: "goto the end with an update", method: "POST", path: "/threads/t/runs/wait", body: `{"command":{"goto":"__end__","update":{"messages":[{"type":"human","content":"by hand"}]}}}`, status: 200},
		{name: "an update alone", method: "POST", path: "/threads/t/runs/wait", body: `{"command":{"update":{"title":"x","messages":[{"type":"human","content":"by hand"}]}}}`, status: 200, want: `{"__error__":"<absent>"}`},
		{name: "goto nowhere", method: "POST", path: "/threads/t/runs", body: `{"command":{"goto":"nowhere"}}`, status: 422},
	})
	var state struct {
		Values struct{ Messages []struct{ Content string } }
	}
	if err := json.Unmarshal(k.do("GET", "/threads/t/state", "").Body.Bytes(), &state); err != nil {
		t.Fatal(err)
	}
	if last := state.Values.Messages[len(state.Values.Messages)-1]; last.Content != "by hand" {
		t.Errorf("the last message is %+v", last)
	}
}

func TestEveryNodeIsABreakpoint(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	k.do("POST", "/threads/t/runs/wait", `{"input":{"messages":"count"},"interrupt_before":"*"}`)
	for range 12 {
		if w := k.do("POST", "/threads/t/runs/wait", `{"input":null,"interrupt_before":"*"}`); w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
		if strings.Contains(k.do("GET", "/threads/t/state", "").Body.String(), `"next":[]`) {
			k.play([]scenario{{name: "the end", method: "GET", path: "/threads/t/state", status: 200, want: `{"values":{"messages":[{},{},{"content":"counted"},{"content":"Hi there."}]}}`}})
			return
		}
	}
	t.Error("the run does not come to its end")
}

func TestStatelessRoutes(t *testing.T) {
	k := newServer(t, nil)
	k.play([]scenario{
		{name: "wait", method: "POST", path: "/runs/wait", body: `{"input":{"messages":"hello"}}`, status: 200, want: `{"messages":[{},{}]}`},
		{name: "create", method: "POST", path: "/runs", body: `{"input":{"messages":"hello"}}`, status: 200, want: `{"thread_id":"*"}`, keep: map[string]string{"run_id": "run", "thread_id": "thread"}},
		{name: "join", method: "GET", path: "/runs/{run}/join", status: 200, want: `{"messages":[{},{}]}`},
		{name: "its thread stays", method: "GET", path: "/threads/{thread}", status: 200},
		{name: "on a thread", method: "POST", path: "/runs/wait", body: `{"input":{"messages":"hello"},"config":{"configurable":{"thread_id":"{thread}"}}}`, status: 200, want: `{"messages":[{},{},{},{}]}`},
		{name: "on a bad one", method: "POST", path: "/runs/wait", body: `{"config":{"configurable":{"thread_id":"a b"}}}`, status: 422},
		{name: "batch", method: "POST", path: "/runs/batch", body: `[{"input":{"messages":"hello"}},{"input":{"messages":"count"}}]`, status: 200, want: `[{"run_id":"*"},{"run_id":"*"}]`},
		{name: "batch with a fault", method: "POST", path: "/runs/batch", body: `[{"input":{"messages":"hello"}},{"input":1}]`, status: 422, want: `{"detail":[{"loc":["body",1,"input"]}]}`},
		{name: "batch with a refusal", method: "POST", path: "/runs/batch", body: `[{"input":{"messages":"hello"}},{"input":{},"checkpoint_id":"nope"}]`, status: 200, want: `[{"run_id":"*"},{"status":"error","detail":"Checkpoint nope not found"}]`},
		{name: "batch of no list", method: "POST", path: "/runs/batch", body: `{}`, status: 422},
		{name: "cancel none", method: "POST", path: "/runs/cancel", body: `{"thread_id":"{thread}","run_ids":["{run}"]}`, status: 404},
		{name: "cancel what", method: "POST", path: "/runs/cancel", body: `{}`, status: 422},
	})
	run := k.start("busy")
	k.vars["run"] = run.ID
	k.play([]scenario{
		{name: "cancel some", method: "POST", path: "/runs/cancel", body: `{"thread_id":"busy","run_ids":["{run}"]}`, status: 204},
		{name: "cancelled", method: "GET", path: "/runs/{run}/join", status: 200},
		{name: "its end", method: "GET", path: "/runs/{run}", status: 200, want: `{"status":"interrupted"}`},
	})
}

func TestACompletedThreadIsDeleted(t *testing.T) {
	k := newServer(t, nil)
	k.play([]scenario{
		{name: "a run", method: "POST", path: "/runs", body: `{"input":{"messages":"wait"},"on_completion":"delete"}`, status: 200,
			want: `{"thread_id":"*"}`, keep: map[string]string{"thread_id": "thread", "run_id": "run"}},
		{name: "its thread, while it lasts", method: "GET", path: "/threads/{thread}", status: 200, want: `{"status":"busy"}`},
	})
	k.free()
	eventually(t, func() bool { return k.do("GET", "/threads/"+k.vars["thread"], "").Code == 404 })
	k.play([]scenario{{name: "with it", method: "GET", path: "/runs/{run}", status: 404}})
}

// racing has a run begin while its place is asked for.
type racing struct {
	store.Store

	begin func()
}

func (r *racing) For(u access.User) store.UserData { return racingData{r.Store.For(u), r} }

type racingData struct {
	store.UserData
	r *racing
}

func (d racingData) Position(ctx context.Context, id string) (int, error) {
	d.r.begin()
	return d.UserData.Position(ctx, id)
}

// TestARunThatBeginsWhileItIsAnswered is told of as it is then: pending with its place, or running without one.
func TestARunThatBeginsWhileItIsAnswered(t *testing.T) {
	race := &racing{begin: func() {}}
	k := newServer(t, func(c *Config) { race.Store, c.Store = c.Store, race })
	k.start("t")
	k.play([]scenario{{name: "behind it", method: "POST", path: "/threads/t/runs", body: `{"input":{"messages":"hello"}}`, status: 200,
		want: `{"status":"pending","queue_position":1}`, keep: map[string]string{"run_id": "run"}}})
	race.begin = func() {
		k.free()
		eventually(t, func() bool {
			run, err := k.data().Run(t.Context(), k.vars["run"])
			return err != nil || run.Status == event.StatusSuccess
		})
	}
	k.play([]scenario{{name: "it ran meanwhile", method: "GET", path: "/runs/{run}", status: 200,
		want: `{"status":"success","queue_position":"<absent>","attempt":1}`}})
}

func TestDoubleSubmit(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	const clients = 16
	ids := make([]string, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r := k.request("POST", "/threads/t/runs", `{"input":{"messages":"hello"}}`)
			r.Header.Set("Idempotency-Key", "once")
			ids[i], _ = at(decode(t, k.send(r).Body.Bytes()), "run_id").(string)
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("runs %v", ids)
		}
	}
	list, err := k.data().ListRuns(t.Context(), store.RunFilter{ThreadID: "t"})
	if err != nil || len(list) != 1 {
		t.Errorf("%d runs, %v", len(list), err)
	}
}

func TestDisconnects(t *testing.T) {
	for mode, want := range map[string]string{"cancel": event.StatusInterrupted, "continue": event.StatusSuccess} {
		t.Run(mode, func(t *testing.T) {
			k := newServer(t, nil)
			server := httptest.NewServer(k)
			defer server.Close()
			k.do("POST", "/threads", `{"thread_id":"t"}`)
			res, err := http.Post(server.URL+"/threads/t/runs/stream", "application/json", strings.NewReader(`{"input":{"messages":"wait"},"on_disconnect":"`+mode+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			<-k.begun
			res.Body.Close()
			run := res.Header.Get("Content-Location")
			if mode == "continue" {
				k.free()
			}
			eventually(t, func() bool {
				return strings.Contains(k.do("GET", run, "").Body.String(), `"status":"`+want+`"`)
			})
		})
	}
}

func TestAThreadThatStreamsIsNotDeleted(t *testing.T) {
	k := newServer(t, nil)
	run := k.start("t")
	reader := k.follow("/threads/t/runs/" + run.ID + "/stream")
	k.play([]scenario{{name: "delete", method: "DELETE", path: "/threads/t", status: 409}})
	k.free()
	if got := events(<-reader); got[len(got)-1] != "end" {
		t.Errorf("the reader saw %v", got)
	}
	k.play([]scenario{
		{name: "delete", method: "DELETE", path: "/threads/t", status: 200},
		{name: "its run", method: "GET", path: "/runs/" + run.ID, status: 404},
	})
}

func TestAReaderIsToldWhatIsGone(t *testing.T) {
	k := newServer(t, nil)
	run := k.run("t", "hello")
	path := "/threads/t/runs/" + run.ID + "/stream?stream_mode=messages-tuple"
	all := parseSSE(t, k.do("GET", path, "").Body.String())
	if _, err := k.Store.System().Collect(t.Context(), store.Retention{Chunks: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	again := func(after string) []frame {
		r := k.request("GET", path, "")
		r.Header.Set("Last-Event-ID", after)
		return parseSSE(t, k.send(r).Body.String())
	}
	if got := again(all[1].id); len(got) == 0 || got[0].event != "gap" || !strings.Contains(got[0].data, `"recovery":"reload_durable_state"`) {
		t.Errorf("in the middle: %v", got)
	}
	for _, after := range []string{"", "-1", all[0].id, all[len(all)-1].id} {
		for _, f := range again(after) {
			if f.event == "gap" {
				t.Errorf("after %q comes a gap", after)
			}
		}
	}
}
