package runs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// counting counts the commits that pass through it.
type counting struct {
	store.Store
	system
	mu      sync.Mutex
	commits int
}

func (c *counting) System() store.System { return c }

func (c *counting) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commits++
	return c.system.CommitAll(ctx, f, steps)
}

// lookRun carries out a run whose model calls a read-only tool once, and returns how many commits that took.
func lookRun(t *testing.T, show func(event.Event), look tool.Func[struct{}]) int {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: databases.Dir(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	counter := &counting{Store: st, system: st.System()}
	tools := []tool.Tool{tool.MustNew(tool.Spec{Name: "count", Description: "Looks.", Effect: tool.ReadOnly}, look)}
	a, err := agent.New(agent.Config{Model: fakeModel(counts), Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	m := runs.NewManager(runs.Config{Store: counter, Owner: "test", Build: func(context.Context, runs.Job) (runs.Built,
		error) {
		return runs.Built{Agent: a, Close: func() error { return nil }}, nil
	}})
	run, err := m.For(user()).Admit(t.Context(),
		runs.Request{ThreadID: "thread", UserID: "user", Input: []message.Message{message.New(message.Human, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Execute(t.Context(), run, show)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("status %q: %s, error %v", out.Run.Status, out.Run.Error, err)
	}
	return counter.commits
}

func TestEventsNobodyWaitsForShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock stands still as long as anybody works
		commits := lookRun(t, func(event.Event) {}, func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return tool.Text("seen"), nil
		})
		if commits != 1 { // a look can be had again, so that neither the model nor the tool waits for one
			t.Errorf("the run took %d commits", commits)
		}
	})
}

func TestAnEventIsShownWhileItsToolRuns(t *testing.T) {
	shown := make(chan struct{})
	show := func(ev event.Event) {
		if ev.Data.Kind() == event.KindToolStart {
			close(shown)
		}
	}
	lookRun(t, show, func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
		select {
		case <-shown:
			return tool.Text("seen"), nil
		case <-time.After(10 * time.Second):
			return nil, errors.New("the call was not shown while it ran")
		}
	})
}
