// Package agent is the engine: the loop that asks the model, runs the tools it calls, and asks again, with hooks of
// middlewares around each of these steps.
//
//	before_agent -> before_model -> model -> after_model -> tools -+
//	     ^               ^                        |                |
//	     +--- steer -----+------------------------|----------------+
//	                                              +-> after_agent -> end
//
// [New] compiles a model, tools and middlewares into an [Agent]; [Agent.Run] drives one run. A run's facts come in a
// [Runtime], its state is an immutable value of package state, and whatever happens leaves through Runtime.Emit and
// Runtime.Commit. Nothing of a run is kept in the agent, so one Agent serves any number of runs, and a run can go on
// in another process from its last commit.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what an agent is made of.
type Config struct {
	// Model answers. Required.
	Model model.ChatModel
	// System is the system prompt.
	System string
	// Tools are offered to the model in this order, before those that middlewares contribute. The first of two tools
	// with one name wins.
	Tools []tool.Tool
	// Sources have further tools, which come and go while a run works.
	Sources []tool.Source
	// Settings tune every model call.
	Settings model.Settings
	// Channels are state channels beyond those of the agent and its middlewares.
	Channels []state.AnyChannel
	// StopPrompt asks for a last answer when a limit ended the work; empty means a built-in sentence.
	StopPrompt string
}

// Agent is a compiled agent. It is immutable and serves many runs at once.
type Agent struct {
	cfg    Config
	schema state.Schema
	tools  toolset

	beforeAgent, beforeModel []hook
	afterModel, afterAgent   []hook // already in the order in which they run
	callModel                ModelHandler
	callTool                 ToolHandler
}

// New compiles the agent. It refuses a middleware without a hook, two of one name, and channels or tools that clash.
func New(cfg Config, middlewares ...Middleware) (*Agent, error) {
	if cfg.Model == nil {
		return nil, errors.New("agent: Config.Model is missing")
	}
	if cfg.StopPrompt == "" {
		cfg.StopPrompt = defaultStopPrompt
	}
	a := &Agent{cfg: cfg}
	if err := a.compile(middlewares); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return a, nil
}

// Schema returns the declared state channels: those of the agent, its middlewares and its configuration.
func (a *Agent) Schema() state.Schema { return a.schema }

// The nodes that a checkpoint can name as the next one; [Done] is the end of the run.
const (
	NodeBeforeAgent = "before_agent"
	NodeBeforeModel = "before_model"
	NodeModel       = "model"
	NodeTools       = "tools"
	NodeAfterAgent  = "after_agent"
	Done            = ""

	// AllNodes names every node in a list of breakpoints.
	AllNodes = "*"
	// NodeInput is the node name under which a run's input enters the state, NodeSteer that for what is said to it
	// later.
	NodeInput = "__start__"
	NodeSteer = "steer"
	// NodeEnd is the end as LangGraph names it.
	NodeEnd = "__end__"
)

// Run drives the run from its input, or from where it left off, to its end and returns the last state. It returns
// [*Interrupted] when the run waits for a human, the context's cause when it was cancelled, and any other error when
// the run failed; in each case what had happened is committed and the state is the committed one.
func (a *Agent) Run(ctx context.Context, rt *Runtime, s state.State) (last state.State, err error) {
	r := newRun(a, rt, s)
	defer func() {
		if p := recover(); p != nil {
			last, err = r.state, panicked("node "+r.next, p)
		}
	}()
	if err := r.apply(NodeInput, r.rt.Input); err != nil {
		return r.state, r.settle(ctx, err)
	}
	for r.next != Done {
		err := r.pause(ctx)
		if err == nil {
			err = r.step(ctx)
		}
		if err != nil {
			return r.state, r.settle(ctx, err)
		}
	}
	return r.state, r.commit(ctx, Done) // of input that led nowhere
}

// run is one run of an agent: the loop's own state. It is used by one goroutine.
type run struct {
	*Agent
	rt    *Runtime
	state state.State
	next  string
	// pending are the updates since the last commit.
	pending []NodeUpdate
	events  []Emitted
	jobs    asked      // by hooks, since the last commit
	called  []tool.Job // asked for by calls that end with the next commit
	later   func(tool.Job) error
	spent   spending
	ran     string // the node before next, empty at first
	// tools are the agent's and those that the sources have now, with the hashes of the latter; changed are those that
	// differ from what the model was offered.
	tools   toolset
	sources []source // nil until they were asked
	hashes  map[string]string
	changed map[string]bool
	saved   string // the next node of the last step; behind one without a checkpoint the run has ended
}

func newRun(a *Agent, rt *Runtime, s state.State) *run {
	r := &run{Agent: a, tools: a.tools, rt: rt.withDefaults(), state: s, next: NodeBeforeAgent}
	r.rt.Spend = r.spent.beside
	r.rt.Env, r.later = r.rt.env(), rt.Env.Services.Later
	r.rt.Env.Services.Later = r.jobs.collect(r.later)
	if rt.Resume != nil {
		r.next, r.saved = rt.Resume.Next, rt.Resume.Next
	}
	return r
}

// step runs one node and commits what it changed.
func (r *run) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	r.ran = r.next
	switch r.next {
	case NodeBeforeAgent:
		return r.hooksNode(ctx, r.beforeAgent, NodeBeforeModel)
	case NodeBeforeModel:
		if heard, err := r.hear(ctx); heard || err != nil {
			return err
		}
		return r.hooksNode(ctx, r.beforeModel, NodeModel)
	case NodeModel:
		return r.modelNode(ctx)
	case NodeTools:
		return r.toolsNode(ctx)
	case NodeAfterAgent:
		return r.hooksNode(ctx, r.afterAgent, Done)
	}
	return fmt.Errorf("checkpoint names the unknown node %q", r.next)
}

// pause stops the run at a breakpoint, for good: another run goes on from there. One that does so passes the breakpoint
// that it begins at.
func (r *run) pause(ctx context.Context) error {
	c, at := r.rt.Config, r.rt.Resume
	if r.ran == "" && at != nil && at.Paused && !at.Passed {
		return &Interrupted{}
	}
	before := breaks(c.InterruptBefore, r.next) && (r.ran != "" || at == nil || !at.Passed)
	if !before && !breaks(c.InterruptAfter, r.ran) {
		return nil
	}
	if len(r.pending) == 0 && r.saved != r.next { // so that there is a checkpoint to go on from
		r.pending = append(r.pending, NodeUpdate{Node: cmp.Or(r.ran, NodeInput)})
	}
	r.events = append(r.events, Emitted{Data: event.Interrupt{}})
	if err := r.commit(ctx, r.next); err != nil {
		return err
	}
	return &Interrupted{}
}

// breaks reports whether a list of breakpoints names the node.
func breaks(list []string, node string) bool {
	return node != "" && (slices.Contains(list, node) || slices.Contains(list, AllNodes))
}

// hooksNode runs hooks one after the other and commits what they changed. A hook's Goto skips the rest.
func (r *run) hooksNode(ctx context.Context, hooks []hook, next string) error {
	next, err := r.runHooks(ctx, hooks, next)
	if err != nil {
		return err
	}
	return r.commitLazy(ctx, next)
}

func (r *run) runHooks(ctx context.Context, hooks []hook, next string) (string, error) {
	for _, h := range hooks {
		cmd, err := h.run(ctx, r.rt, r.state)
		if err != nil {
			return "", fmt.Errorf("%s: %w", h.node, err)
		}
		if err := r.apply(h.node, cmd.Update); err != nil {
			return "", err
		}
		if cmd.Goto != "" {
			return r.target(cmd.Goto), nil
		}
	}
	return next, nil
}

// target is the node that a Goto names.
func (r *run) target(g tool.Goto) string {
	switch g {
	case tool.Model:
		return NodeBeforeModel
	case tool.Tools:
		return NodeTools
	}
	return NodeAfterAgent
}

// apply merges a node's update into the state, to be committed with the step.
func (r *run) apply(node string, u state.Update) error {
	if len(u) == 0 {
		return nil
	}
	next, _, err := r.state.Apply(u)
	if err != nil {
		return fmt.Errorf("%s: %w", node, err)
	}
	r.state = next
	r.spent.add(Spent{Said: said(u)})
	r.pending = append(r.pending, NodeUpdate{Node: node, Update: u})
	return nil
}

// commit makes the step durable and goes on to next. Without changes it only goes on.
func (r *run) commit(ctx context.Context, next string) error { return r.commitStep(ctx, next, false) }

// commitLazy is commit for a step that nothing outside depends on: what follows changes nothing there before it has
// committed something itself, a tool with side effects its intent, the run its end.
func (r *run) commitLazy(ctx context.Context, next string) error {
	return r.commitStep(ctx, next, true)
}

func (r *run) commitStep(ctx context.Context, next string, lazy bool) error {
	r.next = next
	step := Step{Updates: r.pending, Next: next, State: r.state, Events: r.events, Spent: r.spent.sum(), Lazy: lazy}
	if step.empty() && next != Done { // jobs alone wait for the next step: who goes on without one asks for them again
		return nil
	}
	if step.Jobs = append(r.called, r.jobs.drain(false)...); step.empty() && len(step.Jobs) == 0 {
		return nil
	}
	r.called = nil
	r.saved, r.pending, r.events = next, nil, nil
	return r.write(ctx, step)
}

// write commits a step whether or not the run is being cancelled.
func (r *run) write(ctx context.Context, step Step) error {
	if r.rt.Commit == nil {
		for _, e := range step.Events {
			r.rt.Emit(e.Node, e.Data)
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	if err := r.rt.Commit(ctx, step); err != nil {
		return &commitError{err}
	}
	return nil
}
