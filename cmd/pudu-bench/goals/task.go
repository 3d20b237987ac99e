package goals

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

const (
	taskSteps  = 5  // tool calls; one model call more
	taskChunks = 20 // of each answer
)

// taking keeps the requests that pass through it.
type taking struct {
	model.ChatModel
	requests []*model.Request
}

// Stream implements [model.ChatModel].
func (t *taking) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	t.requests = append(t.requests, req)
	return t.ChatModel.Stream(ctx, req)
}

// measureTask compares a whole task, admitted, run and kept, with its model calls alone: the same requests to the same
// server, made by the same client.
func measureTask(ctx context.Context, e env, r *measure.Table) (err error) {
	p := newProse(2)
	server := serveAnswers(taskSteps, taskChunks, p)
	defer server.Close()
	client := chat().Open(server.URL, "bench", nil)
	dir := filepath.Join(e.dir, "task")
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	requests, err := taskRequests(ctx, st, client, p)
	if err != nil {
		return err
	}
	a, err := newAgent(client, p, loopMiddlewares, tool.ReadOnly)
	if err != nil {
		return err
	}
	manager, question := newManager(st, a), p.text(300)
	task := timed(5, func(ctx context.Context) error {
		return turn(ctx, manager, newID(), unseen, message.New(message.Human, question))
	})
	loop := timed(5, func(ctx context.Context) error {
		m := message.New(message.Human, question)
		m.ID = newID()
		_, err := a.Run(ctx, &agent.Runtime{ThreadID: "thread", RunID: newID(), Input: agent.Messages.Append(m)},
			state.State{})
		return err
	})
	floor := timed(5, func(ctx context.Context) error {
		for _, req := range requests {
			if _, err := model.Collect(client.Stream(ctx, req)); err != nil {
				return err
			}
		}
		return nil
	})
	fsync, closeFloor, err := syncFloor(dir, 5)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFloor()) }()
	took, err := compare(ctx, 40, task, floor, fsync, loop)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "5-step task beside its 6 model calls",
		Unit: units.Seconds, Value: took[0], Beside: took[1], Goal: measure.AtMost(5)})
	r.Add(measure.Figure{Name: "the same without storage", Unit: units.Seconds, Value: took[3], Beside: took[1]})
	r.Add(measure.Figure{Name: "the same task beside one fsync", Unit: units.Seconds, Value: took[0], Beside: took[2]})
	return nil
}

// taskRequests are the requests of one run of the task.
func taskRequests(ctx context.Context, st *sqlstore.Store, client model.ChatModel, p prose) ([]*model.Request, error) {
	taker := &taking{ChatModel: client}
	a, err := newAgent(taker, p, 0, tool.ReadOnly)
	if err != nil {
		return nil, err
	}
	err = turn(ctx, newManager(st, a), newID(), unseen, message.New(message.Human, p.text(300)))
	if err == nil && len(taker.requests) != taskSteps+1 {
		err = fmt.Errorf("the task made %d model calls", len(taker.requests))
	}
	return taker.requests, err
}
