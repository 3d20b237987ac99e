package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Command is what hooks hand back: an update of the state and, if not empty, where to go.
type Command = tool.Command

// Middleware takes part in every run. Beside its name it implements at least one of the six hooks below, each an
// interface of one method that the compiler of the chain finds by type assertion. A guard in the middleware's file
// keeps a misspelt hook from being overlooked:
//
//	var _ agent.AfterModelHook = (*Middleware)(nil)
//
// Nothing of a run is kept in a middleware: what must be remembered is a state channel. After a crash a hook may run a
// second time with the same state and must then do the same.
type Middleware interface {
	// Name is the middleware's name on the wire, such as "TitleMiddleware".
	Name() string
}

// BeforeAgentHook runs before the first model call, and again when a person has said more to the run, before the model
// reads it. Hooks run in the order of the chain.
type BeforeAgentHook interface {
	BeforeAgent(ctx context.Context, rt *Runtime, s state.State) (Command, error)
}

// BeforeModelHook runs before each model call, in the order of the chain.
type BeforeModelHook interface {
	BeforeModel(ctx context.Context, rt *Runtime, s state.State) (Command, error)
}

// AfterModelHook runs after each model call, in reverse order. Its update is committed together with the answer.
type AfterModelHook interface {
	AfterModel(ctx context.Context, rt *Runtime, s state.State) (Command, error)
}

// AfterAgentHook runs once at the run's end, in reverse order; not after a cancel or a failure.
type AfterAgentHook interface {
	AfterAgent(ctx context.Context, rt *Runtime, s state.State) (Command, error)
}

// ModelCallWrapper wraps each model call; the first of the chain is the outermost. It may change the request (on a
// copy), call next more than once, or answer itself.
type ModelCallWrapper interface {
	WrapModelCall(ctx context.Context, req *ModelRequest, next ModelHandler) (*ModelResponse, error)
}

// ToolCallWrapper wraps each tool call; the first of the chain is the outermost.
type ToolCallWrapper interface {
	WrapToolCall(ctx context.Context, req *ToolRequest, next ToolHandler) (*tool.Result, error)
}

// ToolProvider is a middleware that contributes tools.
type ToolProvider interface{ Tools() []tool.Tool }

// StateProvider is a middleware that declares state channels.
type StateProvider interface{ Channels() []state.AnyChannel }

// ModelHandler makes a model call.
type ModelHandler func(ctx context.Context, req *ModelRequest) (*ModelResponse, error)

// ToolHandler makes a tool call.
type ToolHandler func(ctx context.Context, req *ToolRequest) (*tool.Result, error)

// ModelRequest is one model call on its way through the wrappers. A wrapper that changes it does so on a copy: what
// it changes is sent, never stored.
type ModelRequest struct {
	Runtime  *Runtime
	State    state.State
	Model    model.ChatModel
	System   string
	Messages []message.Message
	Tools    []model.Tool
	Settings model.Settings
	// Usual is the conversation of State as it is sent unless a wrapper changes something: what anybody can make of the
	// state at any time, so that nobody needs to keep it. nil is the conversation as it is.
	Usual []message.Message

	stream *streamed // what the innermost handler streamed, for the loop
	tries  *tries
}

// ModelResponse is the answer: one AI message, and a change of the state that goes with it.
type ModelResponse struct {
	Message message.Message
	Command
}

// ToolRequest is one tool call on its way through the wrappers.
type ToolRequest struct {
	Runtime *Runtime
	Call    tool.Call
	// Spec is the tool's; its zero value (no name) when the model called a tool that does not exist.
	Spec tool.Spec
	// Invalid, if not empty, says why the call cannot run: unknown tool or unusable arguments. The innermost handler
	// answers with it.
	Invalid string

	tool      tool.Tool
	messageID string // the AI message that asked
	jobs      *asked // of the call
}

// Hook is one of the six hook names, as in node names.
type Hook string

// The hooks.
const (
	HookBeforeAgent   Hook = "before_agent"
	HookBeforeModel   Hook = "before_model"
	HookAfterModel    Hook = "after_model"
	HookAfterAgent    Hook = "after_agent"
	HookWrapModelCall Hook = "wrap_model_call"
	HookWrapToolCall  Hook = "wrap_tool_call"
)

// Hooks returns the hooks that a middleware implements, in the order above.
func Hooks(m Middleware) []Hook {
	var hooks []Hook
	add := func(ok bool, h Hook) {
		if ok {
			hooks = append(hooks, h)
		}
	}
	_, ok := m.(BeforeAgentHook)
	add(ok, HookBeforeAgent)
	_, ok = m.(BeforeModelHook)
	add(ok, HookBeforeModel)
	_, ok = m.(AfterModelHook)
	add(ok, HookAfterModel)
	_, ok = m.(AfterAgentHook)
	add(ok, HookAfterAgent)
	_, ok = m.(ModelCallWrapper)
	add(ok, HookWrapModelCall)
	_, ok = m.(ToolCallWrapper)
	add(ok, HookWrapToolCall)
	return hooks
}

// hook is one before or after hook with the name of its node.
type hook struct {
	node string
	run  func(ctx context.Context, rt *Runtime, s state.State) (Command, error)
}

// compile fills the agent from its middlewares, in one pass over the list.
func (a *Agent) compile(middlewares []Middleware) error {
	tools, channels := a.cfg.Tools, append(Channels(), a.cfg.Channels...)
	seen := make(map[string]bool, len(middlewares))
	var around wrappers
	for _, m := range middlewares {
		name := m.Name()
		if name == "" || strings.ContainsAny(name, ". \n") || seen[name] {
			return fmt.Errorf("middleware %T: the name %q is empty, taken or has a dot or space", m, name)
		}
		beside, within := a.addHooks(name, m), around.add(m)
		if !beside && !within {
			return fmt.Errorf("middleware %q implements no hook", name)
		}
		seen[name] = true
		if p, ok := m.(ToolProvider); ok {
			tools = append(slices.Clip(tools), p.Tools()...)
		}
		if p, ok := m.(StateProvider); ok {
			channels = append(channels, p.Channels()...)
		}
	}
	slices.Reverse(a.afterModel)
	slices.Reverse(a.afterAgent)
	a.callModel, a.callTool = around.chain()
	var errSchema, errTools error
	a.schema, errSchema = state.NewSchema(channels...)
	a.tools, errTools = newToolset(tools)
	return errors.Join(errSchema, errTools)
}

// addHooks reports whether the middleware has a before or after hook.
func (a *Agent) addHooks(name string, m Middleware) (found bool) {
	if h, ok := m.(BeforeAgentHook); ok {
		a.beforeAgent, found = append(a.beforeAgent, hook{name + "." + string(HookBeforeAgent), h.BeforeAgent}), true
	}
	if h, ok := m.(BeforeModelHook); ok {
		a.beforeModel, found = append(a.beforeModel, hook{name + "." + string(HookBeforeModel), h.BeforeModel}), true
	}
	if h, ok := m.(AfterModelHook); ok {
		a.afterModel, found = append(a.afterModel, hook{name + "." + string(HookAfterModel), h.AfterModel}), true
	}
	if h, ok := m.(AfterAgentHook); ok {
		a.afterAgent, found = append(a.afterAgent, hook{name + "." + string(HookAfterAgent), h.AfterAgent}), true
	}
	return found
}

// wrappers are those of a chain, the outermost first.
type wrappers struct {
	model []ModelCallWrapper
	tool  []ToolCallWrapper
}

// add reports whether the middleware is a wrapper.
func (w *wrappers) add(m Middleware) (found bool) {
	if c, ok := m.(ModelCallWrapper); ok {
		w.model, found = append(w.model, c), true
	}
	if c, ok := m.(ToolCallWrapper); ok {
		w.tool, found = append(w.tool, c), true
	}
	return found
}

// chain composes the wrappers around the innermost handlers.
func (w *wrappers) chain() (ModelHandler, ToolHandler) {
	callModel, callTool := ModelHandler(streamModel), ToolHandler(runTool)
	for _, c := range slices.Backward(w.model) {
		next := callModel
		callModel = func(ctx context.Context, req *ModelRequest) (*ModelResponse, error) {
			return c.WrapModelCall(ctx, req, next)
		}
	}
	for _, c := range slices.Backward(w.tool) {
		next := callTool
		callTool = func(ctx context.Context, req *ToolRequest) (*tool.Result, error) {
			return c.WrapToolCall(ctx, req, next)
		}
	}
	return callModel, callTool
}
