// Package pudu embeds the agent in a Go program. There are three ways:
//
//   - [Main] is a pudu of your own, the command line and the server, with tools and middlewares of yours.
//   - [Open] is the same agent without the command line: [Pudu.Run] does a task, threads, state and files are at hand,
//     and [Pudu.Handler] is the whole server.
//   - [New] is a plain agent of nothing but the model, tools and middlewares that you give it, kept in memory.
//
// In each of them the events of a run are ranged over:
//
//	p, err := pudu.Open(ctx, pudu.Options{Tools: []tool.Tool{weather}})
//	for ev, err := range p.Run(ctx, pudu.Task{Thread: "oslo", Text: "What is the weather in Oslo?"}) { ... }
//
// docs/embedding.md tells which field is for what, and examples/ has a program for each.
//
// The packages agent, event, message, model, sandbox, state and tool are the public API beside this one; what is below
// internal/ is not.
package pudu

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what an [Agent] is made of. The zero value is an agent without tools.
type Config struct {
	// Model answers; nil means the one that [OpenModel] finds without a name.
	Model model.ChatModel
	// System is the system prompt; empty sends none.
	System      string
	Tools       []tool.Tool
	Sources     []tool.Source
	Middlewares []agent.Middleware
	// Run bounds each run; zero fields mean the defaults.
	Run agent.RunConfig
}

// Agent runs conversations. It is immutable.
type Agent struct {
	agent *agent.Agent
	run   agent.RunConfig
}

// New makes an agent.
func New(cfg Config) (*Agent, error) {
	if cfg.Model == nil {
		m, err := OpenModel(context.Background(), "")
		if err != nil {
			return nil, err
		}
		cfg.Model = m
	}
	a, err := agent.New(agent.Config{Model: cfg.Model, System: cfg.System, Tools: cfg.Tools, Sources: cfg.Sources},
		cfg.Middlewares...)
	if err != nil {
		return nil, err
	}
	return &Agent{agent: a, run: cfg.Run}, nil
}

// Thread is one conversation.
type Thread struct {
	agent *Agent
	id    string
	busy  sync.Mutex // held while a run is under way

	mu    sync.Mutex
	state state.State
}

// NewThread begins a conversation.
func (a *Agent) NewThread() *Thread { return &Thread{agent: a, id: id.New(time.Now())} }

// State returns the thread's state after the last committed step.
func (t *Thread) State() state.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Messages returns the conversation so far.
func (t *Thread) Messages() []message.Message { return agent.Messages.Get(t.State()) }

// ErrBusy is yielded by [Thread.Run] while another run of the thread is under way.
var ErrBusy = errors.New("the thread has a run under way")

// Run says text to the agent and yields the run's events as they happen. A failure of the run is the last pair. When
// the consumer stops early the run is cancelled; what it had done until then is kept.
func (t *Thread) Run(ctx context.Context, text string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if !t.busy.TryLock() {
			yield(event.Event{}, ErrBusy)
			return
		}
		defer t.busy.Unlock()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &running{thread: t, events: make(chan event.Event), ctx: ctx}
		failed := make(chan error, 1)
		go func() {
			failed <- r.drive(text)
			r.close()
		}()
		for ev := range r.events {
			if !yield(ev, nil) {
				cancel()
				for range r.events { // the run ends within a second
				}
				return
			}
		}
		if err := <-failed; err != nil {
			yield(event.Event{}, err)
		}
	}
}

// running is one run on its way to the consumer.
type running struct {
	thread *Thread
	ctx    context.Context
	events chan event.Event

	mu     sync.Mutex
	n      int64
	closed bool
}

// close ends the stream; a tool that was left behind may still want to emit.
func (r *running) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	close(r.events)
}

func (r *running) drive(text string) error {
	newID := func() string { return id.New(time.Now()) }
	input, err := agent.AddMessages(r.thread.State(), []message.Message{message.New(message.Human, text)}, newID)
	if err != nil {
		return err
	}
	_, err = r.thread.agent.agent.Run(r.ctx, &agent.Runtime{
		ThreadID: r.thread.id, RunID: newID(), Config: r.thread.agent.run, Input: input,
		Emit: r.emit, Commit: r.commit, NewID: newID,
	}, r.thread.State())
	return err
}

// emit hands an event to the consumer, or drops it when the consumer has left.
func (r *running) emit(node string, data event.Data) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.n++
	ev := event.Event{ID: event.ID{Attempt: 1, N: r.n}, Time: time.Now(), Node: node, Data: data}
	select {
	case r.events <- ev:
	case <-r.ctx.Done():
	}
}

func (r *running) commit(_ context.Context, step agent.Step) error {
	if len(step.Updates) > 0 {
		r.thread.mu.Lock()
		r.thread.state = step.State
		r.thread.mu.Unlock()
	}
	for _, u := range step.Updates {
		raw, err := u.Update.MarshalJSON()
		if err != nil {
			return err
		}
		r.emit(u.Node, event.State{Writes: raw})
	}
	for _, e := range step.Events {
		r.emit(e.Node, e.Data)
	}
	return nil
}

// OpenModel opens a model as the command line does: by the name of a configured model or "provider/model", or, with an
// empty name, the first that the configuration or the environment offers, else a local Ollama. Without any it is an
// error that says how to add one.
func OpenModel(ctx context.Context, name string) (model.ChatModel, error) {
	return app.OpenModel(ctx, name)
}
