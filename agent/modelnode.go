package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

const defaultStopPrompt = "A limit of this turn is reached: " +
	"no tool can be called before the next message of the user. " +
	"Answer now: say what is done, what the results are and where they are, and what is left to do."

// StopNoteName is the name of the hidden message that asks for the last answer of a run that reached a limit.
const StopNoteName = "stop_note"

// modelNode asks the model and runs the after_model hooks; both are one commit, so that a committed answer is final.
func (r *run) modelNode(ctx context.Context) error {
	last := StopState(r.state, r.rt.RunID).pending() || r.atLimit()
	if last {
		_ = r.apply("limit", Messages.Append(r.stopNote())) // appending messages to a log cannot fail
	}
	if err := r.askSources(ctx); err != nil {
		return err
	}
	req := r.request(last)
	resp, err := r.callModel(ctx, req)
	call := r.noteCall(ctx, req.tries)
	if err != nil {
		r.keepPartial(ctx, req.stream, call)
		return fmt.Errorf("model: %w", err)
	}
	msg := r.finish(resp.Message, last)
	update := Messages.Append(msg).With(r.counted()...).With(r.noteSourced()...)
	if last {
		update = update.With(answered(r.state))
	}
	if err := r.apply(NodeModel, update.With(resp.Update)); err != nil {
		return err
	}
	if cuts := req.stream.cutsOf(msg); cuts != nil {
		r.events = append(r.events, Emitted{NodeModel, event.Message{MessageID: msg.ID, Chunks: cuts, Call: call}})
	} else {
		req.stream.withdraw(r.rt, "another answer takes its place")
		r.tellCall(call, msg.ID)
	}
	if msg.Usage != nil {
		r.spent.add(Spent{Usage: *msg.Usage, Calls: 1})
	}
	return r.afterModelNode(ctx, resp.Goto)
}

func (r *run) afterModelNode(ctx context.Context, forced tool.Goto) error {
	next, err := r.runHooks(ctx, r.afterModel, "")
	if err != nil {
		return err
	}
	if next == "" && forced != "" {
		next = r.target(forced)
	}
	stopping := StopState(r.state, r.rt.RunID)
	switch {
	case stopping.pending():
		next = NodeBeforeModel
		r.closeCalls(notExecuted)
	case stopping.Answered:
		next = NodeAfterAgent
	case next == "":
		next = r.afterAnswer()
	}
	return r.commitLazy(ctx, next)
}

// afterAnswer is where an answer leads by itself: open calls to the tools, calls that are all answered back to the
// model, and a plain answer to the end.
func (r *run) afterAnswer() string {
	msg, open := openCalls(r.state)
	switch {
	case len(open) > 0:
		return NodeTools
	case len(msg.ToolCalls)+len(msg.InvalidToolCalls) > 0:
		return NodeBeforeModel
	}
	return NodeAfterAgent
}

// atLimit reports whether the node that is about to run is one too many. It then sets the run to stop: the open calls
// are answered as not executed and the model gives its last answer.
func (r *run) atLimit() bool {
	if r.stepsDone() < r.rt.Config.MaxSteps {
		return false
	}
	_ = r.apply("limit", Stop(r.rt, ReasonTurns)) // a last-value channel takes any value
	r.closeCalls(notExecuted)
	return true
}

func (r *run) stepsDone() int {
	if n := stepCount.Get(r.state); n.RunID == r.rt.RunID {
		return n.N
	}
	return 0
}

// counted is the write that remembers one more node.
func (r *run) counted() []state.Update {
	return []state.Update{stepCount.Put(steps{RunID: r.rt.RunID, N: r.stepsDone() + 1})}
}

func (r *run) request(last bool) *ModelRequest {
	req := &ModelRequest{
		Runtime: r.rt, State: r.state, Model: r.cfg.Model, System: r.cfg.System,
		Messages: Messages.Get(r.state), Tools: r.tools.offered, Settings: r.cfg.Settings,
		stream: &streamed{}, tries: &tries{},
	}
	req.Settings.NoTools = req.Settings.NoTools || last
	return req
}

// stopNote asks for the last answer. It stays in the conversation, so that the next turn's request begins as this one
// did, and has an id of its run, so that it is there once however often the node runs.
func (r *run) stopNote() message.Message {
	return conversation.Note(deriveID(r.rt.RunID, StopNoteName), StopNoteName, r.cfg.StopPrompt)
}

// finish makes the answer fit for the state: it has an id, its calls have ids of their own, invalid calls whose
// meaning is certain are repaired, and a last answer calls nothing.
func (r *run) finish(m message.Message, last bool) message.Message {
	if m.ID == "" {
		m.ID = r.rt.NewID()
	}
	if m.Role == "" {
		m.Role = message.AI
	}
	if last {
		m = m.WithoutCalls()
		if strings.TrimSpace(m.Text()) == "" {
			m.Content = append(slices.Clip(m.Content), message.Text("The run reached a limit before it had an answer."))
		}
		return m
	}
	m.ToolCalls, m.InvalidToolCalls = repairCalls(m.ToolCalls, m.InvalidToolCalls)
	if m.Truncated() {
		m.ToolCalls, m.InvalidToolCalls = withoutUnbegun(m.ToolCalls, m.InvalidToolCalls)
	}
	identifyCalls(&m)
	return m
}

// repairCalls moves calls whose arguments are certain after all among the valid ones.
func repairCalls(
	valid []message.ToolCall,
	invalid []message.InvalidToolCall,
) ([]message.ToolCall, []message.InvalidToolCall) {
	var rest []message.InvalidToolCall
	for _, c := range invalid {
		args, ok := tool.RepairText(c.Args)
		if !ok {
			rest = append(rest, c)
			continue
		}
		valid = append(slices.Clip(valid), message.ToolCall{ID: c.ID, Name: c.Name, Args: args, Extra: c.Extra})
	}
	return valid, rest
}

// withoutUnbegun makes the last call of an answer that was cut invalid if it has no arguments: nobody knows whether
// they were still to come. If the cut went through the arguments, the call is invalid already.
func withoutUnbegun(
	valid []message.ToolCall,
	invalid []message.InvalidToolCall,
) ([]message.ToolCall, []message.InvalidToolCall) {
	n := len(valid) - 1
	if n < 0 || len(invalid) > 0 || string(valid[n].Args) != "{}" {
		return valid, invalid
	}
	c := valid[n]
	return valid[:n], []message.InvalidToolCall{
		{ID: c.ID, Name: c.Name, Extra: c.Extra, Error: "the answer was cut before they began"},
	}
}

// identifyCalls gives blank and repeated call ids a value that is the same whenever it is derived again.
func identifyCalls(m *message.Message) {
	seen := make(map[string]bool)
	unique := func(id string, i int) string {
		if id == "" || seen[id] {
			// Providers take 40 characters.
			id = "call_" + strings.ReplaceAll(deriveID(m.ID, strconv.Itoa(i)), "-", "")[:24]
		}
		seen[id] = true
		return id
	}
	calls := make([]message.ToolCall, len(m.ToolCalls))
	for i, c := range m.ToolCalls {
		c.ID = unique(c.ID, i)
		calls[i] = c
	}
	invalid := make([]message.InvalidToolCall, len(m.InvalidToolCalls))
	for i, c := range m.InvalidToolCalls {
		c.ID = unique(c.ID, len(calls)+i)
		invalid[i] = c
	}
	if len(calls) > 0 {
		m.ToolCalls = calls
	}
	if len(invalid) > 0 {
		m.InvalidToolCalls = invalid
	}
}

// keepPartial commits what a cancelled model call had written, marked, without its calls. A failure's text was
// withdrawn when it failed.
func (r *run) keepPartial(ctx context.Context, s *streamed, call *event.Call) {
	if ctx.Err() == nil {
		s.withdraw(r.rt, "the model call failed")
	}
	if s.id == "" {
		r.tellCall(call, "")
		return
	}
	whole := s.builder.Message()
	m := whole.WithoutCalls()
	m.ID = s.id
	if m.Text() == "" && m.Reasoning() == "" {
		r.rt.Emit(NodeModel, event.Discard{MessageID: s.id, Reason: "cancelled"})
		r.tellCall(call, "")
		return
	}
	m.Kwargs = cloneFields(m.Kwargs)
	m.Kwargs[message.KeyPartial] = json.RawMessage(`"cancelled"`)
	if r.apply(NodeModel, Messages.Append(m)) == nil {
		r.events = append(r.events, Emitted{NodeModel, event.Message{MessageID: m.ID, Chunks: s.cutsOf(m), Call: call}})
	}
}

func cloneFields(f message.Fields) message.Fields {
	out := make(message.Fields, len(f)+1)
	maps.Copy(out, f)
	return out
}
