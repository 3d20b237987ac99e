// Package gateways has what the tests of the gateway and of its groups share: a server on a real store with a model
// that answers by a table, requests and the answers they must have, a store that fails when it is told to, clients that
// stand still.
package gateways

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/feature/runsecrets"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// User is who calls.
const User = "user"

// Kit is a server on a real store, with a real manager that serves. Its model answers by the last message:
//
//	ask    calls a tool that asks a human "may I?", and says what the answer was
//	count  calls a tool that says "counted", then answers
//	wait   answers when free is called
//	fail   fails
//	spend  answers, and says how many tokens that took
//
// and anything else gets "Hi there.".
type Kit struct {
	*gateway.Server

	T     *testing.T
	Free  func() // lets the model go on that waits
	Begun chan struct{}
	// Given are the secrets that requests give their runs.
	Given *runsecrets.Secrets
	// vars stand for {name} in the paths, bodies and expectations of scenarios.
	Vars map[string]string
}

// New makes a kit. change, if not nil, alters the configuration before the server is made.
func New(t *testing.T, change func(*gateway.Config)) *Kit {
	t.Helper()
	return NewOf(t, agent.Config{Tools: Tools()}, change)
}

// links are signed with a key of the test.
func links(t *testing.T) *threadfiles.Links {
	t.Helper()
	return threadfiles.NewLinks(sealing(t))
}

// NewOf makes a kit whose agent is made of that and the middlewares. Without a model it has the kit's own.
func NewOf(t *testing.T, of agent.Config, change func(*gateway.Config), middlewares ...agent.Middleware) *Kit {
	t.Helper()
	return NewAt(t, sqlstore.Config{Dir: databases.Dir(t, feature.All())}, of, change, middlewares...)
}

// NewAt makes a kit on a database.
func NewAt(t *testing.T, database sqlstore.Config, of agent.Config, change func(*gateway.Config),
	middlewares ...agent.Middleware) *Kit {
	t.Helper()
	database.Features, database.After = feature.All(), []store.After{runs.After, search.After}
	database.Changed = []store.Changed{search.Changed}
	opened, err := sqlstore.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	st := faulty{opened}
	freed := make(chan struct{})
	k := &Kit{T: t, Free: sync.OnceFunc(func() { close(freed) }), Begun: make(chan struct{}, 100),
		Vars: make(map[string]string)}
	if of.Model == nil {
		of.Model = kitModel{freed, k.Begun}
	}
	of.Channels = threadstate.Channels()
	a, err := agent.New(of, middlewares...)
	if err != nil {
		t.Fatal(err)
	}
	hub := follow.New(follow.Config{Store: st})
	asked := calls.New(st, calls.Config{Schema: a.Schema(), Messages: agent.Messages.Get})
	m := runs.NewManager(runs.Config{
		Store: st, Owner: "test", Feed: func(run store.Run) runs.Feed { return hub.Own(run) },
		Build: func(_ context.Context, job runs.Job) (runs.Built, error) {
			notes := asked.For(access.FromRow(job.Run.UserID)).Notes()
			sent := func(ctx context.Context, s *agent.Sent) json.RawMessage {
				a := calls.Asked(*s)
				return notes.Note(ctx, &a)
			}
			return runs.Built{Agent: a, Sent: sent, Close: func() error { return nil }}, nil
		},
		Delete: DeleteFrom(st), ThreadMetadata: gateway.ThreadMetadata,
		KeepSecrets: func(u access.User, run, thread string, v secrets.Values) ([]store.Statement, error) {
			return k.Given.For(u).Keep(run, thread, v)
		},
	})
	k.Given = runsecrets.New(opened, sealing(t))
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { m.Serve(ctx, nil) })
	indexer := search.NewIndexer(search.Config{Store: opened, Content: contentOf(st, m.Schema())})
	trash := bin.New(bin.Config{
		Store: st, Schema: a.Schema(), Drop: func(ctx context.Context, u access.User, id string,
			still func(store.Thread) bool) error {
			return st.For(u).DropThread(ctx, id, still)
		},
		Stop: func(ctx context.Context, u access.User, id string) error {
			_, err := m.For(u).Cancel(ctx, id, store.StopInterrupt)
			return err
		},
		Keep: func() (trashed, temporary time.Duration) { return 30 * 24 * time.Hour, 24 * time.Hour },
	})
	jobs := job.New(job.Config{Store: opened, Owner: "test",
		Kinds: slices.Concat(m.Kinds(), indexer.Kinds(), trash.Kinds())})
	serving.Go(func() { jobs.Work(ctx) })
	hubOfNews := news.NewHub(news.Config{Store: opened})
	serving.Go(func() { hubOfNews.Work(ctx) })
	shared := t.TempDir()
	c := gateway.Config{
		Manager: m, Hub: hub, Store: st, Items: items.New(st), Assistants: assistants.New(st),
		FolderFiles: FolderFilesIn(st, shared), FolderQuota: 1 << 20, DeleteFolder: DeleteFolderIn(st, shared),
		Folders: folders.New(st), Searches: search.New(st, nil), Sessions: session.New(st), Jobs: job.NewQueue(st),
		Audit:     audit.New(st, nil, nil),
		Agents:    agents.NewFolder(t.TempDir()),
		Approvals: approval.NewGrants(opened),
		Memory:    memory.New(memory.Config{Store: opened}), Told: toldFrom(opened, m.Schema()),
		Skills: skills.New(skills.Config{Store: opened, Ask: func(context.Context, string, string) (string, error) {
			return `{"decision":"allow","reason":"Plain instructions."}`, nil
		}}),
		News:         hubOfNews,
		DeleteThread: DeleteFrom(st), Links: links(t),
		User: access.FromRow(User), Models: []gateway.Model{{Name: "fake"}},
		Histories: history.New(st), Calls: asked, FileHistory: HistoryIn(t.TempDir()), Record: RecordFrom(st),
		Bin: trash, Keeper: &Keeper{}, Toolbox: NoToolbox(),
	}
	if change != nil {
		change(&c)
	}
	k.Server = gateway.New(c)
	t.Cleanup(func() {
		k.Free()
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

// NoToolbox has none for the Python of the sandbox, and touches nothing.
func NoToolbox() *toolbox.Kit {
	ask := func(context.Context) (toolbox.Target, error) { return toolbox.Target{}, toolbox.ErrTarget }
	return toolbox.NewKit(toolbox.New(toolbox.Config{}), ask, slog.New(slog.DiscardHandler))
}

// RecordFrom makes tests of the runs in a store.
func RecordFrom(st store.Store) func(context.Context, access.User, string, string) ([]byte, error) {
	return func(ctx context.Context, u access.User, thread, run string) ([]byte, error) {
		r, err := replay.Record(ctx, replay.Source{Store: st.For(u)}, thread, run)
		if err != nil {
			return nil, err
		}
		return replay.Encode(r)
	}
}

// toldFrom says what runs were told of the memory.
func toldFrom(st database.Store, schema state.Schema) func(context.Context, access.User,
	store.Run) ([]memory.Told, error) {
	return func(ctx context.Context, u access.User, run store.Run) ([]memory.Told, error) {
		mine := memory.New(memory.Config{Store: st}).For(u)
		last, err := mine.LastOf(ctx, run.ID)
		if err != nil || last == "" {
			return []memory.Told{}, err
		}
		cp, err := st.For(u).Checkpoint(ctx, schema, run.ThreadID, last)
		if err != nil {
			return nil, err
		}
		return mine.Why(ctx, agent.Messages.Get(cp.State))
	}
}

// contentOf reads what the messages of a thread say.
func contentOf(st store.Store, schema state.Schema) func(context.Context, access.User, string) (search.Content, error) {
	return func(ctx context.Context, u access.User, id string) (search.Content, error) {
		t, err := st.For(u).Thread(ctx, id)
		if err != nil {
			return search.Content{}, err
		}
		cp, err := st.For(u).Checkpoint(ctx, schema, id, t.Head)
		return search.Content{Thread: t, Messages: agent.Messages.Get(cp.State)}, err
	}
}

// Change puts another server in the place of the kit's, on the same store.
func (k *Kit) Change(change func(*gateway.Config)) {
	c := k.Config
	change(&c)
	k.Stop()
	k.Server = gateway.New(c)
}

// DeleteFrom removes threads that have no files.
func DeleteFrom(st store.Store) func(context.Context, access.User, string) error {
	return func(ctx context.Context, u access.User, id string) error { return st.For(u).DeleteThread(ctx, id) }
}

// Data is what the user of the tests has, and ours what he does with runs.
func (k *Kit) Data() store.UserData { return k.Store.For(k.User) }

// Ours is what the user can do with runs.
func (k *Kit) Ours() *runs.UserRuns { return k.Manager.For(k.User) }

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
			yield(message.Chunk{Text: "LLM request failed",
				Kwargs: message.Fields{message.KeyErrorFallback: json.RawMessage("true")}, FinishReason: "stop"}, nil)
			return
		case text == "spend":
			usage := message.Usage{InputTokens: 10, OutputTokens: 7, TotalTokens: 17, CacheRead: 4, CacheCreation: 3,
				Reasoning: 2}
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

// Tools are those of the kit's agent: ask and count.
func Tools() []tool.Tool {
	ask := tool.MustNew(tool.Spec{Name: "ask", Description: "Asks."},
		func(_ context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			if c.Answer == nil {
				return nil, &tool.InterruptError{Questions: []tool.Question{{Value: json.RawMessage(`"may I?"`)}}}
			}
			return tool.Text("you said " + string(c.Answer)), nil
		})
	count := tool.MustNew(tool.Spec{Name: "count", Description: "Counts."},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return tool.Text("counted"), nil
		})
	return []tool.Tool{ask, count}
}

// Do sends a request and returns the answer.
func (k *Kit) Do(method, path, body string) *httptest.ResponseRecorder {
	k.T.Helper()
	return k.Send(k.Request(method, path, body))
}

// Request makes a request of this machine.
func (k *Kit) Request(method, path, body string) *http.Request {
	k.T.Helper()
	var content io.Reader = http.NoBody
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(k.T.Context(), method, path, content)
	r.Host = "localhost:2026"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// Send has a request answered.
func (k *Kit) Send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	k.ServeHTTP(w, r)
	return w
}

// Run makes a run on a thread and returns it at its end. The thread is made if there is none.
func (k *Kit) Run(threadID, text string) store.Run {
	k.T.Helper()
	out, err := k.Ours().Run(k.T.Context(), k.Ask(threadID, text), nil)
	if err != nil {
		k.T.Fatal(err)
	}
	return out.Run
}

// Start makes a run that waits in the model until free is called.
func (k *Kit) Start(threadID string) store.Run {
	k.T.Helper()
	run, err := k.Ours().Submit(k.T.Context(), k.Ask(threadID, "wait"))
	if err != nil {
		k.T.Fatal(err)
	}
	<-k.Begun
	return run
}

// SubmitLater makes a run that may not start yet.
func (k *Kit) SubmitLater(threadID string) store.Run {
	k.T.Helper()
	later := k.Ask(threadID, "hello")
	later.NotBefore, later.Strategy = time.Now().Add(time.Hour), store.Enqueue
	run, err := k.Ours().Submit(k.T.Context(), later)
	if err != nil {
		k.T.Fatal(err)
	}
	return run
}

// Ask is a request for a run with a message.
func (k *Kit) Ask(threadID, text string) runs.Request {
	return runs.Request{
		ThreadID: threadID, Input: []message.Message{message.New(message.Human, text)}, AssistantID: gateway.GraphID,
		Metadata: json.RawMessage(`{"purpose":"test"}`), Config: json.RawMessage(`{"recursion_limit":7}`),
	}
}

// Scenario is a request, and what its answer must be.
type Scenario struct {
	Name         string
	Method, Path string
	Body         string
	Status       int
	// want is JSON that the answer contains: of an object the members named, of a list all elements, each again so far
	// as it is said. "*" is any value that is not null, "<absent>" says that there is no such member.
	Want string
	// headers the answer has; an empty value says that it has not.
	Headers map[string]string
	// keep names the variables that are taken from the answer: path with dots -> name.
	Keep map[string]string
}

// Play plays scenarios, one after the other.
func (k *Kit) Play(list []Scenario) {
	k.T.Helper()
	for _, s := range list {
		name := fmt.Sprintf("%s: %s %s %.200s", s.Name, s.Method, s.Path, s.Body)
		w := k.Do(s.Method, k.Fill(s.Path), k.Fill(s.Body))
		body := w.Body.Bytes()
		if w.Code != s.Status {
			k.T.Errorf("%s\nstatus %d, want %d: %.500s", name, w.Code, s.Status, body)
			continue
		}
		for h, want := range s.Headers {
			if got := w.Header().Get(h); got != k.Fill(want) {
				k.T.Errorf("%s\nheader %s is %q, want %q", name, h, got, want)
			}
		}
		if s.Want != "" {
			if why := jsontest.Unlike(jsontest.Decode(k.T, []byte(k.Fill(s.Want))),
				jsontest.Decode(k.T, body)); why != "" {
				k.T.Errorf("%s\n%s\nin %.3000s", name, why, body)
			}
		}
		for path, v := range s.Keep {
			k.Vars[v] = fmt.Sprint(jsontest.At(jsontest.Decode(k.T, body), path))
		}
	}
}

// Fill puts the variables into a text.
func (k *Kit) Fill(s string) string {
	for name, v := range k.Vars {
		s = strings.ReplaceAll(s, "{"+name+"}", v)
	}
	return s
}

// sealing has a key of its own.
func sealing(t *testing.T) *secrets.Secrets {
	t.Helper()
	s, err := secrets.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
