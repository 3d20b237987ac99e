package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Run puts the files, by name, into the thread's uploads, starts a run with the request's input or answers (Resume),
// its model, context and bound on steps, and shows it until it ends. note hears of trouble with the connection, once
// each time. Cancelling ctx, with runs.ErrCancelled or runs.ErrRolledBack, ends the run; it is followed to that end. A
// run that goes on without its reader is an error with the run in the outcome; [store.ErrConflict] without one says
// that the thread has an active run.
func (c *Client) Run(ctx context.Context, req runs.Request, uploads map[string][]byte, show func(event.Event),
	note func(string)) (runs.Outcome, error) {
	if len(uploads) > 0 { // nothing is written for a run that is refused
		if err := c.free(ctx, req.ThreadID); err != nil {
			return runs.Outcome{}, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(uploads)) {
		err := c.persist(ctx, note,
			func(ctx context.Context) error { return c.upload(ctx, req.ThreadID, name, uploads[name]) })
		if err != nil {
			return runs.Outcome{}, err
		}
	}
	run, err := c.start(ctx, req, note)
	if err != nil {
		return runs.Outcome{}, err
	}
	return c.Resume(ctx, run, show, note)
}

// free returns store.ErrConflict if the thread has an active run.
func (c *Client) free(ctx context.Context, threadID string) error {
	t, err := c.Thread(ctx, threadID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err == nil && t.Status == store.ThreadBusy:
		return fmt.Errorf("thread %s: %w: it has an active run", threadID, store.ErrConflict)
	}
	return err
}

// orderJSON is the request for a run.
type orderJSON struct {
	AssistantID string       `json:"assistant_id"`
	Input       *inputJSON   `json:"input,omitempty"`
	Command     *commandJSON `json:"command,omitempty"` // in place of the input
	IfNotExists string       `json:"if_not_exists"`
	// Strategy refuses a run on a thread that has an active one: a person who waits is told.
	Strategy store.Strategy `json:"multitask_strategy"`
	Config   struct {
		MaxSteps int `json:"recursion_limit,omitempty"`
	} `json:"config"`
	Context map[string]json.RawMessage `json:"context"`
	// Checkpoint is where a run begins that stands in the place of another one, which Metadata names.
	Checkpoint *checkpointJSON `json:"checkpoint,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

type inputJSON struct {
	Messages []message.Message `json:"messages"`
	Title    json.RawMessage   `json:"title,omitempty"`
}

type commandJSON struct {
	Resume json.RawMessage `json:"resume"`
}

// order is the request for a run. Its messages get their ids here, so that to ask again is to ask the same.
func (c *Client) order(req runs.Request) (orderJSON, error) {
	o := orderJSON{AssistantID: "lead_agent", IfNotExists: "create", Strategy: store.Reject,
		Context: make(map[string]json.RawMessage)}
	if req.Resume != nil {
		o.Command = &commandJSON{req.Resume}
	} else {
		o.Input = &inputJSON{slices.Clone(req.Input), req.Values["title"]}
		for i := range o.Input.Messages {
			if m := &o.Input.Messages[i]; m.ID == "" {
				m.ID = conversation.IDFor(*m, id.New(time.Now()))
			}
		}
	}
	o.Config.MaxSteps, o.Metadata = req.MaxSteps, req.Metadata
	if req.Checkpoint != "" {
		o.Checkpoint = &checkpointJSON{req.Checkpoint}
	}
	if req.Context != nil {
		if err := json.Unmarshal(req.Context, &o.Context); err != nil {
			return o, fmt.Errorf("context of the run: %w", err)
		}
	}
	if req.Model != c.Info.Model && req.Model != "" {
		o.Context["model_name"] = rawjson.AppendString(nil, req.Model)
	}
	if len(req.Secrets) > 0 {
		raw, err := json.Marshal(map[string]string(req.Secrets))
		if err != nil {
			return o, err
		}
		o.Context["secrets"] = raw
	}
	return o, nil
}

// start makes the run. However often it must ask, the key makes it one run.
func (c *Client) start(ctx context.Context, req runs.Request, note func(string)) (store.Run, error) {
	o, err := c.order(req)
	if err != nil {
		return store.Run{}, err
	}
	var made runJSON
	key := http.Header{"Idempotency-Key": {rand.Text()}}
	// once it is asked for, it must be known to be cancelled
	err = c.persist(ctx, note, func(ctx context.Context) error {
		return c.call(context.WithoutCancel(ctx), http.MethodPost, threadPath(req.ThreadID)+"/runs", key, o, &made)
	})
	switch {
	case err != nil && passing(err):
		return store.Run{}, fmt.Errorf("start the run: %w; whether it has begun is not known, pudu runs tells", err)
	case err == nil && made.RunID == "":
		err = fmt.Errorf("start the run: %w: it names no run", errGarbled)
	}
	return made.run(), err
}

// Resume follows an unfinished run from its first event on: the server goes on with it by itself. For the rest see Run.
func (c *Client) Resume(ctx context.Context, run store.Run, show func(event.Event),
	note func(string)) (runs.Outcome, error) {
	stop := c.cancelWith(ctx, run)
	ended, err := c.follow(context.WithoutCancel(ctx), run, show, note)
	stop()
	if err != nil {
		return runs.Outcome{Run: run}, err
	}
	out := runs.Outcome{Run: ended.run(), Usage: ended.Usage.usage()}
	out.State, err = c.last(context.WithoutCancel(ctx), run, note)
	return out, err
}

// cancelWith asks for the end of the run when ctx ends, again and again while the server does not answer, until stop is
// called. That the run ended already is no error.
func (c *Client) cancelWith(ctx context.Context, run store.Run) (stop func()) {
	following, stopFollowing := context.WithCancel(context.WithoutCancel(ctx))
	var asking sync.WaitGroup
	asking.Go(func() {
		select {
		case <-ctx.Done():
		case <-following.Done():
			return
		}
		path := runPath(run) + "/cancel?action=" + store.StopInterrupt
		if errors.Is(context.Cause(ctx), runs.ErrRolledBack) {
			path = runPath(run) + "/cancel?action=" + store.StopRollback
		}
		_ = c.persist(following, func(string) {}, func(ctx context.Context) error { // who follows hears of trouble, too
			return c.call(ctx, http.MethodPost, path, nil, nil, nil)
		})
	})
	return func() {
		stopFollowing()
		asking.Wait()
	}
}

// last is the state that a run has ended with.
func (c *Client) last(ctx context.Context, run store.Run, note func(string)) (state.State, error) {
	var values map[string]json.RawMessage
	err := c.persist(ctx, note, func(ctx context.Context) error { return c.get(ctx, runPath(run)+"/join", &values) })
	if err != nil {
		return state.State{}, fmt.Errorf("read the end of the run: %w", err)
	}
	// not of the state
	maps.DeleteFunc(values, func(name string, _ json.RawMessage) bool { return strings.HasPrefix(name, "__") })
	schema, err := state.NewSchema(append(agent.Channels(), threadstate.Channels()...)...)
	if err != nil {
		return state.State{}, err
	}
	st, err := schema.Load(values)
	if err == nil {
		err = st.Check()
	}
	if err != nil {
		return state.State{}, fmt.Errorf("read the end of the run: %w: %w", errGarbled, err)
	}
	return st, nil
}

func threadPath(threadID string) string { return "/threads/" + url.PathEscape(threadID) }

func runPath(run store.Run) string {
	return threadPath(run.ThreadID) + "/runs/" + url.PathEscape(run.ID)
}
