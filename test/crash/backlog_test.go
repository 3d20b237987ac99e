package crash

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// backlogRuns is how many unfinished runs a server finds.
const backlogRuns = 1000

// backlog is how long a server that starts takes until the first of many unfinished runs has got further, and until all
// are at their end.
type backlog struct{ first, all time.Duration }

// measureBacklog leaves runs in the store of the order and lets a server find them.
func measureBacklog(ctx context.Context, o order) (b backlog, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	st, err := sqlstore.Open(ctx, o.storeConfig())
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	a, err := agent.New(agent.Config{Model: answerer{}})
	if err != nil {
		return b, err
	}
	if err := leave(ctx, managerOf(st, a, "gone")); err != nil {
		return b, fmt.Errorf("leave unfinished runs: %w", err)
	}
	m := managerOf(st, a, "server")
	release, err := m.KeepLease(ctx)
	if err != nil {
		return b, err
	}
	defer release()
	return watch(ctx, m)
}

func managerOf(st store.Store, a *agent.Agent, owner string) *runs.Manager {
	return runs.NewManager(runs.Config{Store: st, Owner: owner, Build: func(context.Context, runs.Job) (runs.Built,
		error) {
		return runs.Built{Agent: a, Close: func() error { return nil }}, nil
	}})
}

// leave admits runs that nobody executes.
func leave(ctx context.Context, m *runs.Manager) error {
	const abreast = 20
	errs := make([]error, abreast)
	var group sync.WaitGroup
	for lane := range abreast {
		group.Go(func() {
			for i := lane; i < backlogRuns && errs[lane] == nil; i += abreast {
				input := []message.Message{message.New(message.Human, "Say something.")}
				_, errs[lane] = m.For(user()).Admit(ctx, runs.Request{ThreadID: fmt.Sprint("left-", i), Input: input})
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// watch serves until all runs have ended.
func watch(ctx context.Context, m *runs.Manager) (b backlog, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	start := time.Now()
	var mu sync.Mutex
	ended := 0
	m.Serve(ctx, func(store.Run) func(event.Event) {
		return func(ev event.Event) {
			mu.Lock()
			defer mu.Unlock()
			if ev.Data.Kind() == event.KindState && b.first == 0 {
				b.first = time.Since(start)
			}
			if d, ok := ev.Data.(event.Run); ok && d.Status == event.StatusSuccess {
				if ended++; ended == backlogRuns {
					b.all = time.Since(start)
					stop()
				}
			}
		}
	})
	if b.all == 0 {
		return b, fmt.Errorf("only %d of %d runs have ended", ended, backlogRuns)
	}
	return b, nil
}

// answerer is a model that answers at once.
type answerer struct{}

var _ model.ChatModel = answerer{}

// Name is "crash/answerer".
func (answerer) Name() string { return "crash/answerer" }

// Stream implements [model.ChatModel].
func (answerer) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		yield(message.Chunk{Text: "Something.", FinishReason: "stop"}, nil)
	}
}
