package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

const testUser = "user"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kit is a server on a real store, with a real manager that serves. Its model answers by the last message:
//
//	ask    calls a tool that asks a human "may I?", and says what the answer was
//	count  calls a tool that says "counted", then answers
//	wait   answers when free is called
//	fail   fails
//	spend  answers, and says how many tokens that took
//
// and anything else gets "Hi there.".
type kit struct {
	*Server

	t     *testing.T
	free  func() // lets the model go on that waits
	begun chan struct{}
	// vars stand for {name} in the paths, bodies and expectations of scenarios.
	vars map[string]string
}

// newServer makes a kit. change, if not nil, alters the configuration before the server is made.
func newServer(t *testing.T, change func(*Config)) *kit {
	t.Helper()
	return newServerOf(t, agent.Config{Tools: kitTools()}, change)
}

// newServerOf makes a kit whose agent is made of that and the middlewares. Without a model it has the kit's own.
func newServerOf(t *testing.T, of agent.Config, change func(*Config), middlewares ...agent.Middleware) *kit {
	t.Helper()
	return newServerAt(t, sqlstore.Config{Dir: t.TempDir()}, of, change, middlewares...)
}

// newServerAt makes a kit on a database.
func newServerAt(t *testing.T, database sqlstore.Config, of agent.Config, change func(*Config), middlewares ...agent.Middleware) *kit {
	t.Helper()
	database.Features = feature.All()
	opened, err := sqlstore.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	st := faulty{opened}
	freed := make(chan struct{})
	k := &kit{t: t, free: sync.OnceFunc(func() { close(freed) }), begun: make(chan struct{}, 100), vars: make(map[string]string)}
	if of.Model == nil {
		of.Model = kitModel{freed, k.begun}
	}
	of.Channels = threadstate.Channels()
	a, err := agent.New(of, middlewares...)
	if err != nil {
		t.Fatal(err)
	}
	hub := follow.New(follow.Config{Store: st})
	m := runs.NewManager(runs.Config{
		Store: st, Owner: "test", Feed: func(run store.Run) runs.Feed { return hub.Own(run) },
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		},
		Delete: deleteFrom(st), ThreadMetadata: ThreadMetadata,
	})
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { m.Serve(ctx, nil) })
	c := Config{
		Manager: m, Hub: hub, Store: st, Items: items.New(st), Assistants: assistants.New(st), DeleteThread: deleteFrom(st),
		User: access.FromRow(testUser), Models: []Model{{Name: "fake"}},
	}
	if change != nil {
		change(&c)
	}
	k.Server = New(c)
	t.Cleanup(func() {
		k.free()
		k.Stop()
		stop()
		serving.Wait()
		hub.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// deleteFrom removes threads that have no files.
func deleteFrom(st store.Store) func(context.Context, access.User, string) error {
	return func(ctx context.Context, u access.User, id string) error { return st.For(u).DeleteThread(ctx, id) }
}

// data is what the user of the tests has, and ours what he does with runs.
func (k *kit) data() store.UserData { return k.Store.For(k.User) }

func (k *kit) ours() *runs.UserRuns { return k.Manager.For(k.User) }

type kitModel struct{ freed, begun chan struct{} }

func (kitModel) Name() string { return "fake/model" }

func (k kitModel) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	last := req.Messages[len(req.Messages)-1]
	return func(yield func(message.Chunk, error) bool) {
		text := last.Text()
		switch {
		case last.Role == message.Human && (text == "ask" || text == "count"):
			call := message.ToolCallChunk{ID: "call-" + text, Name: text, Args: `{}`}
			yield(message.Chunk{ToolCalls: []message.ToolCallChunk{call}, FinishReason: "tool_calls"}, nil)
			return
		case text == "fail":
			yield(message.Chunk{}, errors.New("the model is broken"))
			return
		case text == "excuse": // as the middleware does that handles errors of models
			yield(message.Chunk{Text: "LLM request failed", Kwargs: message.Fields{message.KeyErrorFallback: json.RawMessage("true")}, FinishReason: "stop"}, nil)
			return
		case text == "spend":
			usage := message.Usage{InputTokens: 10, OutputTokens: 7, TotalTokens: 17, CacheRead: 4, CacheCreation: 3, Reasoning: 2}
			yield(message.Chunk{Text: "Spent.", Usage: &usage, FinishReason: "stop"}, nil)
			return
		case text == "wait":
			k.begun <- struct{}{}
			select {
			case <-ctx.Done():
				yield(message.Chunk{}, ctx.Err())
				return
			case <-k.freed:
			}
		}
		if yield(message.Chunk{Text: "Hi "}, nil) {
			yield(message.Chunk{Text: "there.", FinishReason: "stop"}, nil)
		}
	}
}

func kitTools() []tool.Tool {
	ask := tool.MustNew(tool.Spec{Name: "ask", Description: "Asks."}, func(_ context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
		if c.Answer == nil {
			return nil, &tool.InterruptError{Value: json.RawMessage(`"may I?"`)}
		}
		return tool.Text("you said " + string(c.Answer)), nil
	})
	count := tool.MustNew(tool.Spec{Name: "count", Description: "Counts."}, func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
		return tool.Text("counted"), nil
	})
	return []tool.Tool{ask, count}
}

// do sends a request and returns the answer.
func (k *kit) do(method, path, body string) *httptest.ResponseRecorder {
	k.t.Helper()
	return k.send(k.request(method, path, body))
}

func (k *kit) request(method, path, body string) *http.Request {
	k.t.Helper()
	var content io.Reader = http.NoBody
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(k.t.Context(), method, path, content)
	r.Host = "localhost:2026"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (k *kit) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	k.ServeHTTP(w, r)
	return w
}

// run makes a run on a thread and returns it at its end. The thread is made if there is none.
func (k *kit) run(threadID, text string) store.Run {
	k.t.Helper()
	out, err := k.ours().Run(k.t.Context(), k.ask(threadID, text), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	return out.Run
}

// start makes a run that waits in the model until free is called.
func (k *kit) start(threadID string) store.Run {
	k.t.Helper()
	run, err := k.ours().Submit(k.t.Context(), k.ask(threadID, "wait"))
	if err != nil {
		k.t.Fatal(err)
	}
	<-k.begun
	return run
}

// submitLater makes a run that may not start yet.
func (k *kit) submitLater(threadID string) store.Run {
	k.t.Helper()
	later := k.ask(threadID, "hello")
	later.NotBefore, later.Strategy = time.Now().Add(time.Hour), store.Enqueue
	run, err := k.ours().Submit(k.t.Context(), later)
	if err != nil {
		k.t.Fatal(err)
	}
	return run
}

func (k *kit) ask(threadID, text string) runs.Request {
	return runs.Request{
		ThreadID: threadID, Input: []message.Message{message.New(message.Human, text)}, AssistantID: GraphID,
		Metadata: json.RawMessage(`{"purpose":"test"}`), Config: json.RawMessage(`{"recursion_limit":7}`),
	}
}

// scenario is a request, and what its answer must be.
type scenario struct {
	name         string
	method, path string
	body         string
	status       int
	// want is JSON that the answer contains: of an object the members named, of a list all elements, each again so far
	// as it is said. "*" is any value that is not null, "<absent>" says that there is no such member.
	want string
	// headers the answer has; an empty value says that it has not.
	headers map[string]string
	// keep names the variables that are taken from the answer: path with dots -> name.
	keep map[string]string
}

// play plays scenarios, one after the other.
func (k *kit) play(list []scenario) {
	k.t.Helper()
	for _, s := range list {
		name := fmt.Sprintf("%s: %s %s %.200s", s.name, s.method, s.path, s.body)
		w := k.do(s.method, k.fill(s.path), k.fill(s.body))
		body := w.Body.Bytes()
		if w.Code != s.status {
			k.t.Errorf("%s\nstatus %d, want %d: %.500s", name, w.Code, s.status, body)
			continue
		}
		for h, want := range s.headers {
			if got := w.Header().Get(h); got != k.fill(want) {
				k.t.Errorf("%s\nheader %s is %q, want %q", name, h, got, want)
			}
		}
		if s.want != "" {
			if why := unlike(decode(k.t, []byte(k.fill(s.want))), decode(k.t, body)); why != "" {
				k.t.Errorf("%s\n%s\nin %.3000s", name, why, body)
			}
		}
		for path, v := range s.keep {
			k.vars[v] = fmt.Sprint(at(decode(k.t, body), path))
		}
	}
}

func (k *kit) fill(s string) string {
	for name, v := range k.vars {
		s = strings.ReplaceAll(s, "{"+name+"}", v)
	}
	return s
}

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(bytes.TrimSpace(raw), &v); err != nil {
		t.Fatalf("%v in %.500s", err, raw)
	}
	return v
}

// at is the value at a path of names and numbers.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i := 0
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// unlike says where got is not as wanted; empty if it is.
func unlike(want, got any) string {
	switch w := want.(type) {
	case string:
		if w == "*" && got != nil {
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("is %T, not an object", got)
		}
		for name, v := range w {
			has, ok := g[name]
			if v == "<absent>" {
				if ok {
					return fmt.Sprintf(".%s is there: %v", name, has)
				}
				continue
			}
			if !ok {
				return fmt.Sprintf(".%s is missing", name)
			}
			if why := unlike(v, has); why != "" {
				return "." + name + why
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf(" is %v, want %d elements", got, len(w))
		}
		for i := range w {
			if why := unlike(w[i], g[i]); why != "" {
				return fmt.Sprintf("[%d]%s", i, why)
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf(" is %v, want %v", got, want)
	}
	return ""
}
