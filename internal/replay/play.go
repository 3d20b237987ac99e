package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// Bench is an empty Pudu to play a recording on: a store without threads, and a manager of runs whose model is a
// [Player].
type Bench struct {
	Manager *runs.Manager
	Store   store.Store
	// Owner is the manager's name in the run rows, User whose threads they are.
	Owner string
	User  access.User
	// Files opens the files of a user's thread. The caller closes them.
	Files func(ctx context.Context, user access.User, threadID string) (*sandbox.Files, error)
	Close func() error
}

// Options say what Play needs.
type Options struct {
	// Open makes a bench whose model is the player and whose agent has [Player.Inside] within its chain.
	Open func(ctx context.Context, r *Recording, p *Player) (*Bench, error)
	// Beside is the folder with the files that were too large for the recording.
	Beside string
}

// Report is what came of a replay.
type Report struct {
	Turns, Calls int // that were played
	Took         time.Duration
	// Difference is the first one; nil when the run did what was recorded.
	Difference *Difference
	// Again is the recording of this run in the place of the other, for when the difference is meant.
	Again *Recording
}

// Play runs a recording again. An error means that it could not be run; a run that does something else is a
// report with a difference.
func Play(ctx context.Context, r *Recording, o Options) (report Report, err error) {
	start := time.Now()
	input, err := r.messages()
	if err != nil {
		return Report{}, err
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	player := newPlayer(r, input, func() { cancel(runs.ErrCancelled) })
	bench, err := o.Open(ctx, r, player)
	if err != nil {
		return Report{}, fmt.Errorf("prepare the replay: %w", err)
	}
	defer func() { err = errors.Join(err, bench.Close()) }()
	player.say = func(ctx context.Context, list []Value) error { return r.say(ctx, bench, list) }
	if err := r.prepare(ctx, bench, o.Beside); err != nil {
		return Report{}, fmt.Errorf("prepare the replay: %w", err)
	}
	run, err := r.admit(ctx, bench, r.Run, runs.Request{
		Input: input, Model: r.Model, MaxSteps: r.MaxSteps, Config: json.RawMessage(r.Config),
		Context: json.RawMessage(r.Context),
	})
	if err != nil {
		return Report{}, fmt.Errorf("prepare the replay: %w", err)
	}
	if len(r.Turns) > 0 {
		err = r.say(ctx, bench, r.Turns[0].Said)
	}
	if err == nil {
		_, err = bench.Manager.Execute(within, run, func(event.Event) {})
	}
	if err = errors.Join(err, player.unsaid); err != nil {
		return Report{}, fmt.Errorf("run it again: %w", err)
	}
	if ctx.Err() != nil {
		return Report{}, context.Cause(ctx)
	}
	got, err := Record(ctx, Source{Store: bench.Store.For(bench.User)}, run.ThreadID, run.ID)
	if err != nil {
		return Report{}, fmt.Errorf("look at what it did: %w", err)
	}
	got.Before, got.Files, got.At = r.Before, r.Files, r.At
	return Report{
		Turns: len(got.Turns), Calls: got.Calls(), Took: time.Since(start),
		Difference: compare(r, got, player), Again: got,
	}, nil
}

func (r *Recording) messages() ([]message.Message, error) {
	input, err := messagesOf(r.Input)
	if err != nil {
		return nil, fmt.Errorf("the input: %w", err)
	}
	return input, nil
}

func messagesOf(list []Value) ([]message.Message, error) {
	out := make([]message.Message, len(list))
	for i, raw := range list {
		if err := out[i].UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return out, nil
}

// say says messages to the run, each by itself as long as so many may wait.
func (r *Recording) say(ctx context.Context, b *Bench, list []Value) error {
	msgs, err := messagesOf(list)
	for some := range slices.Chunk(msgs, max(1, (len(msgs)+store.MaxSteers-1)/store.MaxSteers)) {
		if err == nil {
			_, err = b.Manager.For(b.User).Say(ctx, runs.Request{ThreadID: r.Thread, Input: some})
		}
	}
	if err != nil {
		return fmt.Errorf("say to the run what was said to it: %w", err)
	}
	return nil
}

// admit creates a run of the recording's thread that is the bench's own. The manager would give it another id.
func (r *Recording) admit(ctx context.Context, b *Bench, id string, req runs.Request) (store.Run, error) {
	req.ThreadID, req.UserID = r.Thread, b.User.ID()
	raw, err := json.Marshal(req)
	if err != nil {
		return store.Run{}, err
	}
	now := time.Now()
	if !r.At.IsZero() {
		now = r.At
	}
	run := store.Run{ID: id, ThreadID: r.Thread, Owner: b.Owner, Request: raw, CreatedAt: now, UpdatedAt: now}
	thread := store.Thread{ID: r.Thread, CreatedAt: now, UpdatedAt: now}
	return b.Store.For(b.User).Admit(ctx, store.Admission{Run: run, Thread: thread})
}

// prepare gives the thread the files and the state that it had. The state is the work of a run before.
func (r *Recording) prepare(ctx context.Context, b *Bench, beside string) error {
	files, err := b.Files(ctx, b.User, r.Thread)
	if err != nil {
		return err
	}
	if err := errors.Join(r.put(files, beside), files.Close()); err != nil {
		return err
	}
	if len(r.Before) == 0 {
		return nil
	}
	update, err := r.past()
	if err != nil {
		return fmt.Errorf("the state before the run: %w", err)
	}
	last, _, err := state.State{}.Apply(update)
	if err != nil {
		return fmt.Errorf("the state before the run: %w", err)
	}
	run, err := r.admit(ctx, b, "before-"+r.Run, runs.Request{})
	if err != nil {
		return err
	}
	_, err = b.Store.System().Commit(ctx, store.Fence{RunID: run.ID, Attempt: run.Attempt}, store.Step{
		Updates: []store.NodeUpdate{{Node: agent.NodeInput, Update: update}}, State: last, Now: time.Now(),
		Events: []event.Event{{ID: event.ID{Attempt: run.Attempt, N: 1}, Time: time.Now(), Node: agent.NodeInput,
			Data: event.State{}}},
		Run: &store.RunChange{Status: event.StatusSuccess},
	})
	return err
}

// past is the update that makes the state before the run.
func (r *Recording) past() (state.Update, error) {
	schema, err := knownSchema()
	if err != nil {
		return nil, err
	}
	writes := make([]map[string]any, 0, len(r.Before))
	for name, v := range r.Before {
		op := state.OpOverwrite
		if name == conversation {
			op = state.OpReset
		}
		writes = append(writes, map[string]any{"c": name, "op": op, "v": json.RawMessage(v)})
	}
	raw, err := json.Marshal(writes)
	if err != nil {
		return nil, err
	}
	return schema.DecodeUpdate(raw)
}

// Clock is the time in a replay: it begins when the recorded run was admitted.
func (r *Recording) Clock() func() time.Time {
	if r.At.IsZero() {
		return time.Now
	}
	start := time.Now()
	return func() time.Time { return r.At.Add(time.Since(start)) }
}
