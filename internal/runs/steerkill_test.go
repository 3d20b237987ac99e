package runs_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// steerStore opens the store of a folder, or of the URL of a database.
func steerStore(ctx context.Context, at string) (*sqlstore.Store, error) {
	c := sqlstore.Config{Dir: at, Features: feature.All()}
	if strings.Contains(at, "://") {
		c.Dir, c.URL = "", at
	}
	return sqlstore.Open(ctx, c)
}

// steerOnce is a process that makes a run whose tool says something to it, and carries out all there is.
func steerOnce(ctx context.Context, at string, die int) error {
	st, err := steerStore(ctx, at)
	if err != nil {
		return err
	}
	defer st.Close()
	var m *runs.Manager
	work := tool.MustNew(tool.Spec{Name: "work", Effect: tool.ReadOnly},
		func(ctx context.Context, _ *tool.Call, _ struct{}) (*tool.Result, error) {
			for _, text := range []string{"first", "second"} {
				req := steering(text)
				req.Key = text
				if _, err := m.For(user()).Admit(ctx, req); err != nil {
					return nil, err
				}
			}
			return tool.Text("worked"), nil
		})
	a, err := agent.New(agent.Config{Tools: []tool.Tool{work},
		Model: fakeModel(func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
			if !slices.ContainsFunc(req.Messages, func(m message.Message) bool { return m.Role == message.Tool }) {
				return chunks(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: "work", Args: `{}`}}},
					message.Chunk{FinishReason: "tool_calls"})
			}
			return chunks(message.Chunk{Text: "done", FinishReason: "stop"})
		})})
	if err != nil {
		return err
	}
	m = runs.NewManager(runs.Config{
		Store: mortalAt(st, die), Owner: fmt.Sprint("process ", time.Now().UnixNano()),
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		},
	})
	list, err := st.For(user()).ListRuns(ctx, store.RunFilter{ThreadID: "thread"})
	if err == nil && len(list) == 0 {
		_, err = m.For(user()).Run(ctx, ordered("go"), noShow)
	}
	for err == nil {
		left, errLeft := m.Unfinished(ctx)
		next, errNext := st.System().Waiting(ctx, time.Now(), 10)
		if err = errors.Join(errLeft, errNext); err != nil || len(left)+len(next) == 0 {
			break
		}
		_, err = m.Resume(ctx, append(left, next...)[0], noShow)
	}
	return err
}

// TestAKillLosesNoSteer kills the process at both sides of each write. Whatever was said is in the conversation once
// then, in order: read by the run, or by a run of its own.
func TestAKillLosesNoSteer(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		killSteers(t, func() string { return t.TempDir() })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		var pg pgtest.Lazy
		t.Cleanup(func() {
			if err := pg.Stop(); err != nil {
				t.Error(err)
			}
		})
		url := pg.Database(t)
		killSteers(t, func() string {
			st, err := steerStore(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			if err := st.For(user()).DeleteThread(t.Context(), "thread"); err != nil &&
				!errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
			return url
		})
	})
}

func killSteers(t *testing.T, fresh func() string) {
	t.Helper()
	killed := 0
	for n := 1; ; n++ {
		at := fresh()
		died := runGranter(t, at, n, grantWork+"=1")
		if died && runGranter(t, at, 0, grantWork+"=1") {
			t.Fatal("the second process was killed")
		}
		saidOnce(t, n, at)
		if !died {
			break
		}
		killed++
	}
	if killed < 8 {
		t.Errorf("killed %d times", killed)
	}
}

// saidOnce looks at what the processes have left, of which one was killed at a write.
func saidOnce(t *testing.T, kill int, at string) {
	t.Helper()
	st, err := steerStore(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	talk := strings.Join(talkOf(t, st), "\n")
	if strings.Count(talk, "human: first") != 1 || strings.Count(talk, "human: second") != 1 ||
		strings.Index(talk, "first") > strings.Index(talk, "second") || !strings.HasSuffix(talk, "ai: done") {
		t.Errorf("killed at %d: %s", kill, talk)
	}
	if list := steersOf(t, st); len(list) > 0 {
		t.Errorf("killed at %d: %d wait", kill, len(list))
	}
	list, err := st.For(user()).ListRuns(t.Context(), store.RunFilter{ThreadID: "thread"})
	if err != nil || slices.ContainsFunc(list, func(r store.Run) bool { return r.Status != event.StatusSuccess }) {
		t.Errorf("killed at %d: %v, %v", kill, list, err)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}
