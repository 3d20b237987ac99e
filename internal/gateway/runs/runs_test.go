package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/runsecrets"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

func TestRunRoutes(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	ask := func(text string) string { return `{"assistant_id":"lead_agent","input":{"messages":"` + text + `"}}` }
	k.Play([]gateways.Scenario{
		{
			Name: "wait", Method: "POST", Path: "/threads/t/runs/wait", Body: ask("hello"), Status: 200,
			Want: `{"messages":[{"type":"human","content":"hello"},{"type":"ai","content":"Hi there."}],
				"__error__":"<absent>","__interrupt__":"<absent>"}`,
			Headers: map[string]string{"Content-Type": "application/json"},
		},
		{
			Name: "list", Method: "GET", Path: "/threads/t/runs", Status: 200,
			Want: `[{"status":"success","thread_id":"t"}]`, Keep: map[string]string{"0.run_id": "run"},
		},
		{
			Name: "get", Method: "GET", Path: "/api/threads/t/runs/{run}", Status: 200,
			Want: `{"run_id":"{run}","thread_id":"t","assistant_id":"lead_agent","status":"success","metadata":{},
				"kwargs":{"input":{"messages":[{"content":"hello"}]},"config":{}},
				"multitask_strategy":"enqueue","created_at":"*","updated_at":"*","total_tokens":0,
				"stop_reason":null,"error":null,"queue_position":"<absent>"}`,
		},
		{
			Name: "get of another thread", Method: "GET", Path: "/threads/other/runs/{run}", Status: 404,
			Want: `{"detail":"Run {run} not found"}`,
		},
		{Name: "get by itself", Method: "GET", Path: "/runs/{run}", Status: 200, Want: `{"thread_id":"t"}`},
		{
			Name: "cancel at its end", Method: "POST", Path: "/threads/t/runs/{run}/cancel", Status: 409,
			Want: `{"detail":"Run {run} is not cancellable (status: success)"}`,
		},
		{
			Name: "cancel in an unknown way", Method: "POST", Path: "/threads/t/runs/{run}/cancel?action=kill",
			Status: 422, Want: `{"detail":[{"type":"literal_error","loc":["query","action"]}]}`,
		},
		{Name: "cancel of none", Method: "POST", Path: "/threads/t/runs/nope/cancel", Status: 404},
		{
			Name: "join at its end", Method: "GET", Path: "/threads/t/runs/{run}/join", Status: 200,
			Want: `{"messages":[{},{}]}`, Headers: map[string]string{"Location": "/threads/t/runs/{run}/join"},
		},
		{Name: "list by status", Method: "GET", Path: "/threads/t/runs?status=error", Status: 200, Want: `[]`},
		{Name: "list by no status", Method: "GET", Path: "/threads/t/runs?status=funny", Status: 200, Want: `[]`},
		{Name: "list of none", Method: "GET", Path: "/threads/nope/runs", Status: 200, Want: `[]`},
		{Name: "list too many", Method: "GET", Path: "/threads/t/runs?limit=9999", Status: 422},
		{Name: "delete", Method: "DELETE", Path: "/threads/t/runs/{run}", Status: 204},
		{Name: "deleted", Method: "GET", Path: "/threads/t/runs/{run}", Status: 404},
		{
			Name: "its state stays", Method: "GET", Path: "/threads/t/state", Status: 200,
			Want: `{"values":{"messages":[{},{}]}}`,
		},

		{
			Name: "on no thread", Method: "POST", Path: "/threads/nope/runs", Body: ask("hello"), Status: 404,
			Want: `{"detail":"Thread nope not found"}`,
		},
		{Name: "on somebody else's", Method: "POST", Path: "/threads/theirs/runs", Body: ask("hello"), Status: 404},
		{
			Name: "on a new thread", Method: "POST", Path: "/threads/new/runs/wait",
			Body: `{"if_not_exists":"create","input":{"messages":[["user","hi"]]}}`, Status: 200,
			Want: `{"messages":[{"content":"hi"},{}]}`,
		},
		{
			Name: "on a bad id", Method: "POST", Path: "/threads/a%20b/runs", Body: ask("hello"), Status: 422,
			Want: `{"detail":[{"type":"string_pattern_mismatch","loc":["path","thread_id"]}]}`,
		},
		{
			Name: "of an unknown assistant", Method: "POST", Path: "/threads/t/runs",
			Body: `{"assistant_id":"nobody","input":{}}`, Status: 404,
		},
		{
			Name: "of nothing", Method: "POST", Path: "/threads/t/runs/wait", Body: `{}`, Status: 200,
			Want: `{"__error__":{"message":"there is nothing to go on with: the thread's last run has ended; give an input"}}`,
		},
		{
			Name: "an answer that nobody waits for", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"command":{"resume":"yes"}}`, Status: 200, Want: `{"messages":[{},{}],"__error__":"<absent>"}`,
		},
		{
			Name: "from no checkpoint", Method: "POST", Path: "/threads/t/runs",
			Body: `{"input":{},"checkpoint_id":"nope"}`, Status: 404, Want: `{"detail":"Checkpoint nope not found"}`,
		},
		{
			Name: "from another thread's", Method: "POST", Path: "/threads/t/runs",
			Body: `{"checkpoint":{"thread_id":"x","checkpoint_id":"y"}}`, Status: 422,
		},
		{
			Name: "a model failure", Method: "POST", Path: "/threads/t/runs/wait", Body: ask("fail"), Status: 200,
			Want: `{"__error__":{"error":"RunError","message":"model: the model is broken"}}`,
		},
		{
			Name: "an answer that tells of one", Method: "POST", Path: "/threads/excused/runs/wait",
			Body: `{"if_not_exists":"create","input":{"messages":["excuse"]}}`, Status: 200,
			Want: `{"messages":[{},{"content":"LLM request failed"}],"__error__":"<absent>"}`,
		},
		{
			Name: "of which the thread tells, too", Method: "GET", Path: "/threads/excused", Status: 200,
			Want: `{"status":"error","error":{"error":"RunError","message":"LLM request failed"}}`,
		},

		{
			Name: "no JSON", Method: "POST", Path: "/threads/t/runs", Body: `{`, Status: 422,
			Want: `{"detail":[{"type":"json_invalid","loc":["body",1],"msg":"JSON decode error"}]}`,
		},
		{
			Name: "no object", Method: "POST", Path: "/threads/t/runs", Body: `[]`, Status: 422,
			Want: `{"detail":[{"type":"model_attributes_type"}]}`,
		},
		{
			Name: "an input of the wrong type", Method: "POST", Path: "/threads/t/runs", Body: `{"input":"hello"}`,
			Status: 422, Want: `{"detail":[{"type":"dict_type","loc":["body","input"],"input":"hello"}]}`,
		},
		{
			Name: "a message of no role", Method: "POST", Path: "/threads/t/runs",
			Body: `{"input":{"messages":[{"content":"x"}]}}`, Status: 422,
			Want: `{"detail":[{"type":"value_error","loc":["body","input","messages"],"input":[{"content":"x"}]}]}`,
		},
		{
			Name: "an unknown mode", Method: "POST", Path: "/threads/t/runs/stream",
			Body: `{"stream_mode":["values","events"]}`, Status: 422,
			Want: `{"detail":[{"type":"unsupported_stream_mode","loc":["body","stream_mode"]}]}`,
		},
		{
			Name: "several faults", Method: "POST", Path: "/threads/t/runs",
			Body: `{"multitask_strategy":"x","on_disconnect":"y","if_not_exists":"z","after_seconds":-1,
				"config":{"recursion_limit":0},"webhook":"ftp://x"}`,
			Status: 422,
			Want: `{"detail":[{"loc":["body","on_disconnect"]},{"loc":["body","multitask_strategy"]},
				{"loc":["body","if_not_exists"]},{"loc":["body","after_seconds"]},{"loc":["body","webhook"]},
				{"loc":["body","config","recursion_limit"]}]}`,
		},
		{
			Name: "a secret in the metadata", Method: "POST", Path: "/threads/t/runs",
			Body: `{"metadata":{"auth_token":"x"}}`, Status: 422,
		},
		{
			Name: "options that others refuse", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":{"messages":"hello"},"stream_resumable":true,"durability":"sync",
				"feedback_keys":["a"],"stream_subgraphs":true,"checkpoint":{"checkpoint_map":null},
				"langsmith_tracer":{}}`,
			Status: 200,
		},
		{
			Name: "nested too deep", Method: "POST", Path: "/threads/t/runs",
			Body: `{"input":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, Status: 422,
		},
		{Name: "unknown path", Method: "GET", Path: "/threads/t/nope", Status: 404, Want: `{"detail":"Not Found"}`},
		{
			Name: "wrong method", Method: "PUT", Path: "/threads/t/runs", Status: 405,
			Want: `{"detail":"Method Not Allowed"}`, Headers: map[string]string{"Allow": "GET, POST"},
		},
		{Name: "a slash more", Method: "GET", Path: "/api/langgraph/threads/t/runs/", Status: 200},
	})
}

// TestSecretsAreNotKept: neither the run's row nor any answer has a value, which is sealed for the run until its end;
// what cannot be taken is refused without being shown.
func TestSecretsAreNotKept(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{{
		Name: "run", Method: "POST", Path: "/runs", Status: 200,
		Body: `{"input":{"messages":"wait"},"config":{"context":{"secrets":{"k":"hush"},"a":1},"tags":["x"]},
			"context":{"secrets":{"k":"hush","none":null},"__x":1,"b":2}}`,
		Want: `{"kwargs":{"config":{"context":{"a":1,"secrets":"<absent>"},"tags":["x"]},"context":{"b":2,
			"secrets":"<absent>","__x":"<absent>"}}}`,
		Keep: map[string]string{"run_id": "run", "thread_id": "t"},
	}})
	run, err := k.Data().Run(t.Context(), k.Vars["run"])
	if err != nil || strings.Contains(string(run.Request), "hush") ||
		!strings.Contains(string(run.Request), `"secret_names":["k"]`) {
		t.Errorf("%s, %v", run.Request, err)
	}
	mine := k.Given.For(access.FromRow(gateways.User))
	if v, err := mine.Of(t.Context(), run.ID); err != nil || v["k"] != "hush" || len(v) != 1 {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := k.Given.For(access.FromRow("another")).Of(t.Context(), run.ID); err == nil {
		t.Errorf("another user has %v", v)
	}
	k.Free()
	k.Play([]gateways.Scenario{{Name: "to its end", Method: "GET", Path: "/threads/{t}/runs/{run}/join", Status: 200}})
	if v, err := mine.Of(t.Context(), run.ID); !errors.Is(err, runsecrets.ErrGone) {
		t.Errorf("after the end: %v, %v", v, err)
	}
	many := strings.TrimSuffix(strings.Repeat(`"k%d":"hush",`, secrets.MaxCount+1), ",")
	for i := range secrets.MaxCount + 1 {
		many = strings.Replace(many, "%d", strconv.Itoa(i), 1)
	}
	for _, bad := range []string{
		`"hush"`, `["hush"]`, `{"A":{"x":"hush"}}`, `{"A":7,"B":"hush"}`, `{"A-B":"hush"}`, `{"LD_PRELOAD":"hush"}`,
		`{"bash_env":"hush"}`, `{"A":""}`, `{"A":"hush\u0000"}`, `{"A":"hush` + strings.Repeat("x", secrets.MaxValue) +
			`"}`, "{" + many + "}",
	} {
		for _, body := range []string{`{"input":{"messages":"hi"},"context":{"secrets":%s}}`,
			`{"input":{"messages":"hi"},"config":{"context":{"secrets":%s}}}`} {
			w := k.Do("POST", "/runs", fmt.Sprintf(body, bad))
			if text := w.Body.String(); w.Code != http.StatusUnprocessableEntity || strings.Contains(text, "hush") ||
				!strings.Contains(text, "secrets") {
				t.Errorf("%.60s: %d %.300s", bad, w.Code, text)
			}
		}
	}
}

func TestStream(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	w := k.Do("POST", "/api/langgraph/threads/t/runs/stream",
		`{"input":{"messages":"hello"},"stream_mode":["values","messages-tuple","updates"]}`)
	run := strings.TrimPrefix(w.Header().Get("Content-Location"), "/api/threads/t/runs/")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform",
		"X-Accel-Buffering": "no", "Connection": "keep-alive",
		"Content-Location": "/api/threads/t/runs/" + run, "Location": "/threads/t/runs/" + run + "/stream",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	all := gateways.ParseSSE(t, w.Body.String())
	if names := strings.Join(gateways.Events(all),
		" "); names != "metadata values messages messages messages updates values end" {
		t.Errorf("frames: %s", names)
	}
	for i, f := range all {
		if f.ID == "" {
			t.Errorf("frame %d (%s) has no id", i, f.Event)
		}
		r := k.Request("GET", "/threads/t/runs/"+run+
			"/stream?stream_mode=values&stream_mode=messages-tuple&stream_mode=updates", "")
		r.Header.Set("Last-Event-ID", f.ID)
		rest := gateways.ParseSSE(t, k.Send(r).Body.String())
		if len(rest) != len(all)-i-1 || len(rest) > 0 && rest[0] != all[i+1] {
			t.Errorf("after %s come %v", f.ID, gateways.Events(rest))
		}
	}
	for path, want := range map[string]string{
		"":                                   strings.Join(gateways.Events(all), " "), // the run's own modes
		`?stream_mode=["values","updates"]`:  "metadata values updates values end",
		"?stream_mode=values,custom":         "metadata values values end",
		"?stream_mode=&cancel_on_disconnect": strings.Join(gateways.Events(all), " "),
	} {
		r := k.Request("GET", "/threads/t/runs/"+run+"/stream"+strings.ReplaceAll(path, `"`, "%22"), "")
		r.Header.Set("Last-Event-ID", "-1")
		if got := strings.Join(gateways.Events(gateways.ParseSSE(t, k.Send(r).Body.String())), " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if w := k.Do("GET", "/threads/t/runs/"+run+"/stream?stream_mode=nope", ""); w.Code != 422 {
		t.Errorf("status %d", w.Code)
	}
}

func TestCancelRoutes(t *testing.T) {
	for name, c := range map[string]struct {
		path         string
		code         int
		status, left string
	}{
		"interrupt": {"/threads/t/runs/{run}/cancel?wait=1", 204, "interrupted",
			`[{"content":"hello"},{},{"content":"wait"}]`},
		"rollback": {"/threads/t/runs/{run}/cancel?wait=true&action=rollback", 204, "error",
			`[{"content":"hello"},{}]`},
		"without a wait": {"/threads/t/runs/{run}/cancel", 202, "interrupted",
			`[{"content":"hello"},{},{"content":"wait"}]`},
		"by the stream": {"/threads/t/runs/{run}/stream?action=interrupt&wait=1", 204, "interrupted",
			`[{"content":"hello"},{},{"content":"wait"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			k := gateways.New(t, nil)
			k.Run("t", "hello")
			run := k.Start("t")
			k.Vars["run"] = run.ID
			reader := k.Follow("/threads/t/runs/" + run.ID + "/stream")
			k.Play([]gateways.Scenario{
				{Name: "busy", Method: "GET", Path: "/threads/t", Status: 200, Want: `{"status":"busy"}`},
				{Name: "cancel", Method: "POST", Path: c.path, Status: c.code},
			})
			if got := gateways.Events(<-reader); got[len(got)-1] != "end" ||
				strings.Contains(strings.Join(got, " "), "error") {
				t.Errorf("the reader saw %v", got)
			}
			k.Play([]gateways.Scenario{
				{
					Name: "afterwards", Method: "GET", Path: "/threads/t/runs/{run}", Status: 200,
					Want: `{"status":"` + c.status + `","stop_reason":"cancelled"}`,
				},
				{
					Name: "its thread", Method: "GET", Path: "/threads/t/state", Status: 200,
					Want: `{"values":{"messages":` + c.left + `}}`,
				},
				{Name: "again", Method: "POST", Path: "/threads/t/runs/{run}/cancel", Status: 202},
				{
					Name: "goes on", Method: "POST", Path: "/threads/t/runs/wait",
					Body: `{"input":{"messages":"hello"}}`, Status: 200,
				},
			})
		})
	}
}

func TestStrategies(t *testing.T) {
	order := func(strategy string) string {
		return `{"input":{"messages":"hello"},"multitask_strategy":"` + strategy + `"}`
	}
	for strategy, first := range map[string]string{"enqueue": "success", "interrupt": "interrupted",
		"rollback": "error"} {
		t.Run(strategy, func(t *testing.T) {
			answer := `{"multitask_strategy":"` + strategy + `"}` // the first has ended meanwhile, or not
			if strategy == "enqueue" {
				answer = `{"status":"pending","queue_position":1,"attempt":0}`
			}
			k := gateways.New(t, nil)
			k.Vars["first"] = k.Start("t").ID
			k.Play([]gateways.Scenario{
				{Name: "reject", Method: "POST", Path: "/threads/t/runs", Body: order("reject"), Status: 409},
				{
					Name: strategy, Method: "POST", Path: "/threads/t/runs", Body: order(strategy), Status: 200, Want: answer,
					Keep: map[string]string{"run_id": "second"},
				},
			})
			if strategy == "enqueue" {
				k.Free()
			}
			k.Play([]gateways.Scenario{
				{
					Name: "the second", Method: "GET", Path: "/threads/t/runs/{second}/join", Status: 200,
					Want: `{"messages":"*"}`,
				},
				{
					Name: "its end", Method: "GET", Path: "/threads/t/runs/{second}", Status: 200,
					Want: `{"status":"success"}`,
				},
				{
					Name: "the first", Method: "GET", Path: "/threads/t/runs/{first}", Status: 200,
					Want: `{"status":"` + first + `"}`,
				},
			})
		})
	}
}

func TestQuestionsOverTheAPI(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	k.Play([]gateways.Scenario{
		{
			Name: "ask", Method: "POST", Path: "/threads/t/runs/wait", Body: `{"input":{"messages":"ask"}}`,
			Status: 200, Want: `{"__interrupt__":[{"id":"*","value":"may I?"}]}`,
			Keep: map[string]string{"__interrupt__.0.id": "question"},
		},
		{Name: "the run", Method: "GET", Path: "/threads/t/runs", Status: 200, Want: `[{"status":"success"}]`},
		{Name: "the thread", Method: "GET", Path: "/threads/t", Status: 200, Want: `{"status":"interrupted"}`},
		{
			Name: "answer by id", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"command":{"resume":{"{question}":"by id"}}}`, Status: 200,
			Want: `{"messages":[{},{},{"type":"tool","content":"you said \"by id\""},{}]}`,
		},
		{
			Name: "ask again", Method: "POST", Path: "/threads/t/runs/wait", Body: `{"input":{"messages":"ask"}}`,
			Status: 200, Want: `{"__interrupt__":"*"}`,
		},
		{
			Name: "another turn", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":{"messages":"hello"}}`, Status: 200, Want: `{"__interrupt__":"<absent>"}`,
		},
		{
			Name: "nothing waits", Method: "GET", Path: "/threads/t", Status: 200,
			Want: `{"status":"idle","interrupts":{}}`,
		},

		{
			Name: "a breakpoint", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":{"messages":"count"},"interrupt_before":["tools"]}`, Status: 200,
			Want: `{"__interrupt__":"<absent>"}`,
		},
		{
			Name: "its state", Method: "GET", Path: "/threads/t/state", Status: 200, Want: `{"next":["tools"]}`,
			Keep: map[string]string{"checkpoint_id": "fork"},
		},
		{Name: "behind it", Method: "POST", Path: "/threads/t/runs/wait", Body: `{"input":null}`, Status: 200},
		{Name: "the end", Method: "GET", Path: "/threads/t/state", Status: 200, Want: `{"next":[]}`},
		{
			Name: "from there again", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"checkpoint_id":"{fork}"}`, Status: 200,
		},
		{Name: "a branch", Method: "GET", Path: "/threads/t/state", Status: 200, Want: `{"next":[]}`},
		{
			Name: "from the empty state", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":{"messages":"anew"},"checkpoint":{"checkpoint_id":"0","checkpoint_ns":""}}`, Status: 200,
			Want: `{"messages":[{"content":"anew"},{}]}`,
		},
		{
			Name: "goto the end with an update", Method: "POST", Path: "/threads/t/runs/wait",
			Body:   `{"command":{"goto":"__end__","update":{"messages":[{"type":"human","content":"by hand"}]}}}`,
			Status: 200,
		},
		{
			Name: "an update alone", Method: "POST", Path: "/threads/t/runs/wait",
			Body:   `{"command":{"update":{"title":"x","messages":[{"type":"human","content":"by hand"}]}}}`,
			Status: 200, Want: `{"__error__":"<absent>"}`,
		},
		{
			Name: "goto nowhere", Method: "POST", Path: "/threads/t/runs", Body: `{"command":{"goto":"nowhere"}}`,
			Status: 422,
		},
	})
	var state struct {
		Values struct{ Messages []struct{ Content string } }
	}
	if err := json.Unmarshal(k.Do("GET", "/threads/t/state", "").Body.Bytes(), &state); err != nil {
		t.Fatal(err)
	}
	if last := state.Values.Messages[len(state.Values.Messages)-1]; last.Content != "by hand" {
		t.Errorf("the last message is %+v", last)
	}
}

func TestEveryNodeIsABreakpoint(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	k.Do("POST", "/threads/t/runs/wait", `{"input":{"messages":"count"},"interrupt_before":"*"}`)
	for range 12 {
		if w := k.Do("POST", "/threads/t/runs/wait", `{"input":null,"interrupt_before":"*"}`); w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
		if strings.Contains(k.Do("GET", "/threads/t/state", "").Body.String(), `"next":[]`) {
			k.Play([]gateways.Scenario{{
				Name: "the end", Method: "GET", Path: "/threads/t/state", Status: 200,
				Want: `{"values":{"messages":[{},{},{"content":"counted"},{"content":"Hi there."}]}}`,
			}})
			return
		}
	}
	t.Error("the run does not come to its end")
}

func TestStatelessRoutes(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{
		{
			Name: "wait", Method: "POST", Path: "/runs/wait", Body: `{"input":{"messages":"hello"}}`, Status: 200,
			Want: `{"messages":[{},{}]}`,
		},
		{
			Name: "create", Method: "POST", Path: "/runs", Body: `{"input":{"messages":"hello"}}`, Status: 200,
			Want: `{"thread_id":"*"}`, Keep: map[string]string{"run_id": "run", "thread_id": "thread"},
		},
		{Name: "join", Method: "GET", Path: "/runs/{run}/join", Status: 200, Want: `{"messages":[{},{}]}`},
		{Name: "its thread stays", Method: "GET", Path: "/threads/{thread}", Status: 200},
		{
			Name: "on a thread", Method: "POST", Path: "/runs/wait",
			Body: `{"input":{"messages":"hello"},"config":{"configurable":{"thread_id":"{thread}"}}}`, Status: 200,
			Want: `{"messages":[{},{},{},{}]}`,
		},
		{
			Name: "on a bad one", Method: "POST", Path: "/runs/wait",
			Body: `{"config":{"configurable":{"thread_id":"a b"}}}`, Status: 422,
		},
		{
			Name: "batch", Method: "POST", Path: "/runs/batch",
			Body: `[{"input":{"messages":"hello"}},{"input":{"messages":"count"}}]`, Status: 200,
			Want: `[{"run_id":"*"},{"run_id":"*"}]`,
		},
		{
			Name: "batch with a fault", Method: "POST", Path: "/runs/batch",
			Body: `[{"input":{"messages":"hello"}},{"input":1}]`, Status: 422,
			Want: `{"detail":[{"loc":["body",1,"input"]}]}`,
		},
		{
			Name: "batch with a refusal", Method: "POST", Path: "/runs/batch",
			Body: `[{"input":{"messages":"hello"}},{"input":{},"checkpoint_id":"nope"}]`, Status: 200,
			Want: `[{"run_id":"*"},{"status":"error","detail":"Checkpoint nope not found"}]`,
		},
		{Name: "batch of no list", Method: "POST", Path: "/runs/batch", Body: `{}`, Status: 422},
		{
			Name: "cancel none", Method: "POST", Path: "/runs/cancel",
			Body: `{"thread_id":"{thread}","run_ids":["{run}"]}`, Status: 404,
		},
		{Name: "cancel what", Method: "POST", Path: "/runs/cancel", Body: `{}`, Status: 422},
	})
	run := k.Start("busy")
	k.Vars["run"] = run.ID
	k.Play([]gateways.Scenario{
		{
			Name: "cancel some", Method: "POST", Path: "/runs/cancel",
			Body: `{"thread_id":"busy","run_ids":["{run}"]}`, Status: 204,
		},
		{Name: "cancelled", Method: "GET", Path: "/runs/{run}/join", Status: 200},
		{Name: "its end", Method: "GET", Path: "/runs/{run}", Status: 200, Want: `{"status":"interrupted"}`},
	})
}

func TestACompletedThreadIsDeleted(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{
		{
			Name: "a run", Method: "POST", Path: "/runs",
			Body: `{"input":{"messages":"wait"},"on_completion":"delete"}`, Status: 200, Want: `{"thread_id":"*"}`,
			Keep: map[string]string{"thread_id": "thread", "run_id": "run"},
		},
		{
			Name: "its thread, while it lasts", Method: "GET", Path: "/threads/{thread}", Status: 200,
			Want: `{"status":"busy"}`,
		},
	})
	k.Free()
	gateways.Eventually(t, func() bool { return k.Do("GET", "/threads/"+k.Vars["thread"], "").Code == 404 })
	k.Play([]gateways.Scenario{{Name: "with it", Method: "GET", Path: "/runs/{run}", Status: 404}})
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
	k := gateways.New(t, func(c *gateway.Config) { race.Store, c.Store = c.Store, race })
	k.Start("t")
	k.Play([]gateways.Scenario{{
		Name: "behind it", Method: "POST", Path: "/threads/t/runs", Body: `{"input":{"messages":"hello"}}`,
		Status: 200, Want: `{"status":"pending","queue_position":1}`, Keep: map[string]string{"run_id": "run"},
	}})
	race.begin = func() {
		k.Free()
		gateways.Eventually(t, func() bool {
			run, err := k.Data().Run(t.Context(), k.Vars["run"])
			return err != nil || run.Status == event.StatusSuccess
		})
	}
	k.Play([]gateways.Scenario{{Name: "it ran meanwhile", Method: "GET", Path: "/runs/{run}", Status: 200,
		Want: `{"status":"success","queue_position":"<absent>","attempt":1}`}})
}

func TestDoubleSubmit(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	const clients = 16
	ids := make([]string, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r := k.Request("POST", "/threads/t/runs", `{"input":{"messages":"hello"}}`)
			r.Header.Set("Idempotency-Key", "once")
			ids[i], _ = jsontest.At(jsontest.Decode(t, k.Send(r).Body.Bytes()), "run_id").(string)
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("runs %v", ids)
		}
	}
	list, err := k.Data().ListRuns(t.Context(), store.RunFilter{ThreadID: "t"})
	if err != nil || len(list) != 1 {
		t.Errorf("%d runs, %v", len(list), err)
	}
}

func TestDisconnects(t *testing.T) {
	for mode, want := range map[string]string{"cancel": event.StatusInterrupted, "continue": event.StatusSuccess} {
		t.Run(mode, func(t *testing.T) {
			k := gateways.New(t, nil)
			server := httptest.NewServer(k)
			defer server.Close()
			k.Do("POST", "/threads", `{"thread_id":"t"}`)
			res, err := http.Post(server.URL+"/threads/t/runs/stream", "application/json",
				strings.NewReader(`{"input":{"messages":"wait"},"on_disconnect":"`+mode+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			<-k.Begun
			res.Body.Close()
			run := res.Header.Get("Content-Location")
			if mode == "continue" {
				k.Free()
			}
			gateways.Eventually(t, func() bool {
				return strings.Contains(k.Do("GET", run, "").Body.String(), `"status":"`+want+`"`)
			})
		})
	}
}

func TestAThreadThatStreamsIsNotDeleted(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Start("t")
	reader := k.Follow("/threads/t/runs/" + run.ID + "/stream")
	k.Play([]gateways.Scenario{{Name: "delete", Method: "DELETE", Path: "/threads/t", Status: 409}})
	k.Free()
	if got := gateways.Events(<-reader); got[len(got)-1] != "end" {
		t.Errorf("the reader saw %v", got)
	}
	k.Play([]gateways.Scenario{
		{Name: "delete", Method: "DELETE", Path: "/threads/t", Status: 200},
		{Name: "its run", Method: "GET", Path: "/runs/" + run.ID, Status: 404},
	})
}

func TestAReaderIsToldWhatIsGone(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "hello")
	path := "/threads/t/runs/" + run.ID + "/stream?stream_mode=messages-tuple"
	all := gateways.ParseSSE(t, k.Do("GET", path, "").Body.String())
	if _, err := k.Store.System().Collect(t.Context(), store.Retention{Chunks: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	again := func(after string) []gateways.Frame {
		r := k.Request("GET", path, "")
		r.Header.Set("Last-Event-ID", after)
		return gateways.ParseSSE(t, k.Send(r).Body.String())
	}
	if got := again(all[1].ID); len(got) == 0 || got[0].Event != "gap" ||
		!strings.Contains(got[0].Data, `"recovery":"reload_durable_state"`) {
		t.Errorf("in the middle: %v", got)
	}
	for _, after := range []string{"", "-1", all[0].ID, all[len(all)-1].ID} {
		for _, f := range again(after) {
			if f.Event == "gap" {
				t.Errorf("after %q comes a gap", after)
			}
		}
	}
}
