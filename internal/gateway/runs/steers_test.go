package runs_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/tool"
)

// steered is a kit with a run whose tool works until it is freed.
type steered struct {
	*gateways.Kit

	run  string
	free chan struct{}
}

func newSteered(t *testing.T) *steered {
	t.Helper()
	s := &steered{free: make(chan struct{})}
	begun := make(chan struct{}, 1)
	count := tool.MustNew(tool.Spec{Name: "count"},
		func(ctx context.Context, _ *tool.Call, _ struct{}) (*tool.Result, error) {
			begun <- struct{}{}
			select {
			case <-s.free:
			case <-ctx.Done():
			}
			return tool.Text("worked"), nil
		})
	s.Kit = gateways.NewOf(t, agent.Config{Tools: []tool.Tool{count}}, nil)
	w := s.Do("POST", "/threads/t/runs", `{"if_not_exists":"create","input":{"messages":"count"}}`)
	s.run, _ = jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "run_id").(string)
	<-begun
	s.Vars["run"] = s.run
	return s
}

// says says something to the run, and returns the id of that.
func (s *steered) says(text string) string {
	s.T.Helper()
	w := s.Do("POST", "/threads/t/runs", said(text))
	out := jsontest.Decode(s.T, w.Body.Bytes())
	if w.Code != 200 || jsontest.At(out, "run_id") != s.run {
		s.T.Fatalf("%d %s", w.Code, w.Body)
	}
	if at := w.Header().Get("Content-Location"); at != "/threads/t/runs/"+s.run {
		s.T.Errorf("it is at %s", at)
	}
	id, _ := jsontest.At(out, "steer_id").(string)
	return id
}

func said(text string) string {
	return fmt.Sprintf(`{"multitask_strategy":"steer","input":{"messages":[{"type":"human","content":%q}]}}`, text)
}

// TestSaidToARunAtWork: the answer names that run and what was said, which is listed until it is taken back or taken.
func TestSaidToARunAtWork(t *testing.T) {
	s := newSteered(t)
	s.Vars["a"], s.Vars["b"] = s.says("first"), s.says("second")
	s.Play([]gateways.Scenario{
		{
			Name: "what waits", Method: "GET", Path: "/threads/t/steers", Status: 200,
			Want: `[{"steer_id":"{a}","run_id":"{run}","thread_id":"t","messages":[{"type":"human","content":"first"}]},{"steer_id":"{b}"}]`,
		},
		{Name: "they are no runs", Method: "GET", Path: "/threads/t/runs", Status: 200, Want: `[{"run_id":"{run}"}]`},
		{Name: "of no thread", Method: "GET", Path: "/threads/u/steers", Status: 404,
			Want: `{"detail":"Thread u not found"}`},
		{Name: "unknown", Method: "DELETE", Path: "/threads/t/steers/x", Status: 404,
			Want: `{"detail":"Message x not found"}`},
		{Name: "the run", Method: "DELETE", Path: "/threads/t/steers/{run}", Status: 404},
		{Name: "taken back", Method: "DELETE", Path: "/threads/t/steers/{a}", Status: 204},
		{Name: "and again", Method: "DELETE", Path: "/threads/t/steers/{a}", Status: 404},
		{Name: "what waits then", Method: "GET", Path: "/threads/t/steers", Status: 200, Want: `[{"steer_id":"{b}"}]`},
	})
	close(s.free)
	s.Play([]gateways.Scenario{
		{
			Name: "it is read behind the results", Method: "GET", Path: "/threads/t/runs/{run}/join", Status: 200,
			Want: `{"messages":[{"content":"count"},{"type":"ai"},{"type":"tool"},{"type":"human","content":"second"},{"type":"ai"}]}`,
		},
		{
			Name: "too late", Method: "DELETE", Path: "/threads/t/steers/{b}", Status: 409,
			Want: `{"detail":"Message {b} is taken: a run has read it"}`,
		},
		{Name: "nothing waits", Method: "GET", Path: "/threads/t/steers", Status: 200, Want: `[]`},
		{Name: "on an idle thread it is a run", Method: "POST", Path: "/threads/t/runs/wait", Body: said("hello"),
			Status: 200,
			Want:   `{"messages":[{},{},{},{},{},{"content":"hello"},{"content":"Hi there."}]}`},
	})
}

// TestStreamOfARunThatIsSpokenTo: who says something gets the run's stream, in which it stands at its place.
func TestStreamOfARunThatIsSpokenTo(t *testing.T) {
	s := newSteered(t)
	answers := make(chan *httptest.ResponseRecorder, 3)
	for _, path := range []string{"stream", "stream", "wait"} {
		modes := map[string]string{"stream": `["messages-tuple","updates"]`, "wait": `"values"`}[path]
		body := strings.Replace(said("to "+path), "{", `{"on_disconnect":"cancel","stream_mode":`+modes+",", 1)
		go func() { answers <- s.Do("POST", "/threads/t/runs/"+path, body) }()
	}
	for {
		if list, err := s.Data().Steers(t.Context(), "t"); err != nil || len(list) == 3 {
			break
		}
	}
	close(s.free)
	for range 3 {
		w := <-answers
		if id := w.Header().Get("X-Steer-Id"); id == "" || id == s.run ||
			w.Header().Get("Content-Location") != "/threads/t/runs/"+s.run {
			t.Errorf("headers %v", w.Header())
		}
		body := w.Body.String()
		if n := strings.Count(body, `"to wait"`); n == 0 || !strings.Contains(body, "Hi ") {
			t.Errorf("%d %s", n, body)
		}
		if strings.Contains(body, "event:") &&
			(!strings.Contains(body, `{"steer":{`) || !strings.Contains(body, `"langgraph_node":"steer"`)) {
			t.Error(body)
		}
	}
}

// TestWhoWaitsForWhatCameTooLate gets the state of the run that has read it.
func TestWhoWaitsForWhatCameTooLate(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads/t/runs", `{"if_not_exists":"create","input":{"messages":"wait"}}`)
	<-k.Begun
	answers := make(chan *httptest.ResponseRecorder, 1)
	go func() { answers <- k.Do("POST", "/threads/t/runs/wait", said("more")) }()
	for {
		if list, err := k.Data().Steers(t.Context(), "t"); err != nil || len(list) == 1 {
			break
		}
	}
	k.Free()
	w := <-answers
	if got := jsontest.Decode(t, w.Body.Bytes()); jsontest.At(got, "messages.2.content") != "more" ||
		jsontest.At(got, "messages.3.content") != "Hi there." {
		t.Error(w.Body)
	}
}

// TestWhatCannotBeSaidToARun and how that is told.
func TestWhatCannotBeSaidToARun(t *testing.T) {
	s := newSteered(t)
	const at = "/threads/t/runs"
	refused := `{"detail":"With multitask_strategy steer the input is messages of a human, and there is neither a command nor after_seconds"}`
	list := []gateways.Scenario{
		{Name: "an answer", Method: "POST", Path: at, Body: `{"multitask_strategy":"steer","command":{"resume":1}}`,
			Status: 422, Want: refused},
		{Name: "nothing", Method: "POST", Path: at, Body: `{"multitask_strategy":"steer"}`, Status: 422, Want: refused},
		{
			Name: "a model's words", Method: "POST", Path: at,
			Body: `{"multitask_strategy":"steer","input":{"messages":[{"type":"ai","content":"x"}]}}`, Status: 422,
			Want: refused,
		},
		{Name: "too much", Method: "POST", Path: at, Body: said(strings.Repeat("x", store.MaxSteer)),
			Status: http.StatusRequestEntityTooLarge},
	}
	for n := range store.MaxSteers {
		list = append(list, gateways.Scenario{Name: fmt.Sprint("one more ", n), Method: "POST", Path: at,
			Body: said("x"), Status: 200})
	}
	s.Play(append(list, gateways.Scenario{
		Name: "too many", Method: "POST", Path: at, Body: said("x"), Status: http.StatusTooManyRequests,
		Want: `{"detail":"Thread t has 20 messages that its run has not read yet, the most there may be; wait until it has, or take one back"}`,
	}))
	s.Change(func(c *gateway.Config) { c.User = access.FromRow("another") })
	list = []gateways.Scenario{
		{Name: "another's run", Method: "POST", Path: at, Body: said("x"), Status: 404},
		{Name: "what another's run waits for", Method: "GET", Path: "/threads/t/steers", Status: 404},
		{Name: "what another has said", Method: "DELETE", Path: "/threads/t/steers/x", Status: 404},
	}
	s.Play(list)
	close(s.free)
}
