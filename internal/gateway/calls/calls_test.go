package calls_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCalls: what happened in a run, by pages, and what a call was sent.
func TestCalls(t *testing.T) {
	k := gateways.New(t, nil)
	k.Vars["run"] = k.Run("t", "hello").ID
	k.Run("u", "hello")
	const run = "/threads/t/runs/{run}"
	k.Play([]gateways.Scenario{
		{Name: "timeline", Method: "GET", Path: run + "/timeline", Status: 200,
			Want: `{"thread_id":"t","status":"success","attempts":1,"calls":1,"tools":0,
			"cost":[],"next":"","steps":[{"id":"1-1","kind":"attempt","attempt":1},{"kind":"call","n":1,"call":{"tool_calls":[],"cost":null}},{"kind":"end","end":{"status":"success"}}]}`},
		{Name: "a page", Method: "GET", Path: run + "/timeline?limit=1", Status: 200,
			Want: `{"calls":1,"steps":[{"kind":"attempt"}],"next":"1-1"}`},
		{Name: "behind", Method: "GET", Path: run + "/timeline?limit=1&after=1-1", Status: 200,
			Want: `{"steps":[{"kind":"call"}],"next":"*"}`},
		{Name: "the end", Method: "GET", Path: run + "/timeline?after=9-9", Status: 200,
			Want: `{"steps":[],"next":""}`},
		{Name: "no step", Method: "GET", Path: run + "/timeline?after=x", Status: 422},
		{Name: "no page", Method: "GET", Path: run + "/timeline?limit=0", Status: 422},
		{Name: "too large a page", Method: "GET", Path: run + "/timeline?limit=1001", Status: 422},
		{Name: "a call", Method: "GET", Path: run + "/calls/1", Status: 200,
			Want: `{"thread_id":"t","n":1,"of":1,"request":{"exact":true,"tools":[{"name":"ask"},{"name":"count"}],
			"messages":[{"type":"human","content":"hello"}]},"answer":{"type":"ai"},"new":{"since":0,"kept":0}}`},
		{Name: "no such call", Method: "GET", Path: run + "/calls/2", Status: 404},
		{Name: "no call", Method: "GET", Path: run + "/calls/0", Status: 404},
		{Name: "no number", Method: "GET", Path: run + "/calls/x", Status: 404},
		{Name: "a large number", Method: "GET", Path: run + "/calls/99999999999999999999", Status: 404},
		{Name: "of another thread", Method: "GET", Path: "/threads/u/runs/{run}/calls/1", Status: 404},
		{Name: "costs", Method: "GET", Path: "/threads/t/costs", Status: 200,
			Want: `{"thread_id":"t","more":false,"cost":[],"usage":{"input_tokens":0},
			"runs":[{"run_id":"{run}","status":"success","began":"*","ended":"*","calls":1,"tools":0,"cost":[]}],"context":null}`},
		{Name: "costs of too many", Method: "GET", Path: "/threads/t/costs?limit=201", Status: 422},
		{Name: "costs of no thread", Method: "GET", Path: "/threads/nope/costs", Status: 404},
		{Name: "a test of no run", Method: "GET", Path: "/threads/t/runs/nope/test", Status: 404},
		{Name: "a test of another thread's", Method: "GET", Path: "/threads/u/runs/{run}/test", Status: 404},
		{Name: "of no run", Method: "GET", Path: "/threads/t/runs/nope/timeline", Status: 404},
	})
}

// TestRunAsATest: a run that is over can be downloaded as what pudu replay reads; one that is not says why it cannot.
func TestRunAsATest(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "hello")
	w := k.Send(k.Request("GET", "/threads/t/runs/"+run.ID+"/test", ""))
	if w.Code != http.StatusOK || w.Header().Get("Content-Disposition") != `attachment; filename="`+run.ID+
		`.replay.yaml"; filename*=UTF-8''`+run.ID+`.replay.yaml` {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	r, err := replay.Parse("it", w.Body.Bytes())
	if err != nil || r.Run != run.ID || len(r.Turns) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
	k.Vars["run"] = k.Start("t").ID
	k.Play([]gateways.Scenario{{Name: "one under way", Method: "GET", Path: "/threads/t/runs/{run}/test", Status: 409,
		Want: `{"detail":"*"}`}})
	k.Free()
}
