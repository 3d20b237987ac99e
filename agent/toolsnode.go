package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Texts that answer a call that did not run to its end.
const (
	notExecuted = "This call was not executed: the run reached a limit."
	cancelled   = "This call was cancelled before it finished. What it had done until then stays done."
	unknown     = "The outcome of this call is unknown: it was started, " +
		"then the program stopped before a result was recorded. " +
		"It may have run completely, partly or not at all. " +
		"Look at what it would have changed before you decide whether to call it again."
)

// inspectTimeout bounds looking at what is left of a call that a crash cut off.
const inspectTimeout = 10 * time.Second

// cancelGrace is how long a tool may take to return after its context was cancelled; then it is left behind.
const cancelGrace = 800 * time.Millisecond

// toolsNode runs the open calls of the last answer side by side and merges their results in call order.
func (r *run) toolsNode(ctx context.Context) error {
	msg, open := openCalls(r.state)
	if len(open) == 0 {
		return r.commit(ctx, NodeBeforeModel)
	}
	if r.atLimit() {
		return r.commit(ctx, NodeBeforeModel)
	}
	if err := r.recallSources(ctx); err != nil {
		return err
	}
	outcomes := r.runCalls(ctx, msg.ID, open)
	if err := firstFailure(ctx, outcomes); err != nil {
		return errors.Join(err, r.keepSiblings(outcomes, err))
	}
	if waiting := interrupts(outcomes); len(waiting) > 0 && ctx.Err() == nil {
		return r.interrupt(ctx, outcomes, waiting)
	}
	return r.merge(ctx, outcomes)
}

// outcome is how one call ended: with an end event and its update, with questions, or with an error that fails the
// run.
type outcome struct {
	call   openCall
	end    event.ToolEnd
	fresh  bool // there is a result, and its end is not recorded yet
	update state.Update
	jobs   []tool.Job        // to be stored with the end
	asks   []event.Interrupt // what it waits for; then there is no result
	err    error
}

// runCalls runs each call, those of one lane one after the other, and returns all outcomes in call order. Each result
// but the last to come is committed at once.
func (r *run) runCalls(ctx context.Context, messageID string, open []openCall) []outcome {
	type indexed struct {
		i int
		o outcome
	}
	results := make(chan indexed, len(open))
	slots := make(chan struct{}, r.rt.Config.ParallelTools)
	before, ended := r.lanes(open), make([]chan struct{}, len(open))
	for i, call := range open {
		ended[i] = make(chan struct{})
		go func() {
			defer close(ended[i])
			if n := before[i]; n != i {
				<-ended[n] // before a slot is taken: who waits keeps nobody from running
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			results <- indexed{i, r.runCall(ctx, messageID, call)}
		}()
	}
	outcomes := make([]outcome, len(open))
	for n := range open {
		res := <-results
		outcomes[res.i] = r.keep(ctx, res.o, n == len(open)-1)
	}
	return outcomes
}

// keep commits a result that is not the last one, so that it survives a crash or cancel of its siblings.
func (r *run) keep(ctx context.Context, o outcome, last bool) outcome {
	if last || !o.fresh {
		return o
	}
	o.fresh = false
	o.err = r.write(ctx, Step{
		Next: r.next, Events: []Emitted{{NodeTools, o.whole()}}, Jobs: o.jobs,
		Spent: r.spent.sum(), Lazy: r.repeatable(o.call),
	})
	return o
}

// tell has the end of a call, and what it asks for, committed with the next step.
func (r *run) tell(o outcome, end event.ToolEnd) {
	r.events, r.called = append(r.events, Emitted{NodeTools, end}), append(r.called, o.jobs...)
}

// whole is the end event with the update, for a step that does not hold the update itself.
func (o outcome) whole() event.ToolEnd {
	end := o.end
	end.Writes, _ = o.update.MarshalJSON() // what cannot be stored has failed where its call ended
	return end
}

// repeatable reports whether nothing is lost with the result of a call but the time to make it again.
func (r *run) repeatable(call openCall) bool {
	t, known := r.tools.byName[call.Name]
	return !known || t.spec.Effect != tool.SideEffects
}

// runCall takes one call through checks, wrappers and the tool.
func (r *run) runCall(ctx context.Context, messageID string, call openCall) (o outcome) {
	start := r.rt.Now()
	defer func() {
		if p := recover(); p != nil { // a wrapper's; the tool's own are caught where it runs
			o = outcome{call: call, err: panicked("tools: "+call.Name, p)}
		}
	}()
	if known, ok := r.known(ctx, messageID, call); ok {
		return known
	}
	req := r.toolRequest(messageID, call)
	res, err := r.callTool(ctx, req)
	var ask *tool.InterruptError
	switch {
	case errors.As(err, &ask) && len(ask.Questions) > 0:
		return outcome{call: call, asks: asks(messageID, call.ID, ask.Questions)}
	case err != nil && ctx.Err() != nil && !IsFatal(err):
		res = tool.Error(cancelled)
	case err != nil:
		return outcome{call: call, err: fmt.Errorf("tools: %s: %w", call.Name, err)}
	}
	o = r.ended(messageID, call, res, r.rt.Now().Sub(start))
	o.jobs = req.jobs.drain(true)
	return o
}

// asks are the interrupts of a call's questions.
func asks(messageID, callID string, questions []tool.Question) (list []event.Interrupt) {
	for _, q := range questions {
		id := cmp.Or(q.ID, interruptID(messageID, callID))
		list = append(list, event.Interrupt{InterruptID: id, CallID: callID, Value: q.Value})
	}
	return list
}

// interruptID is the id of a call's own question.
func interruptID(messageID, callID string) string { return deriveID("interrupt", messageID, callID) }

// known answers a call from the durable past: a recorded result is used, and a call with side effects that was started
// and has no result is not run again.
func (r *run) known(ctx context.Context, messageID string, call openCall) (outcome, bool) {
	past := r.rt.Resume
	if past == nil {
		return outcome{}, false
	}
	if end, ok := past.Ended[call.ID]; ok && end.MessageID == messageID {
		u, err := r.schema.DecodeUpdate(end.Writes)
		return outcome{call: call, end: end, update: u, err: err}, true
	}
	if start, ok := past.Started[call.ID]; ok && start.MessageID == messageID {
		if t, ok := r.tools.byName[call.Name]; ok && t.spec.Effect != tool.SideEffects {
			return outcome{}, false
		}
		res := tool.Error(r.outcomeUnknown(ctx, call, start))
		res.Kwargs = message.Fields{message.KeyOutcomeUnknown: json.RawMessage("true")}
		return r.ended(messageID, call, res, 0), true
	}
	return outcome{}, false
}

// outcomeUnknown says what is known of a call that was started and has no result: that, and what its tool finds.
func (r *run) outcomeUnknown(ctx context.Context, call openCall, start event.ToolStart) string {
	inspector, ok := r.tools.byName[call.Name].tool.(tool.Inspector)
	if !ok {
		return unknown
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	found := inspector.Inspect(ctx, &tool.Call{
		ID:       call.ID,
		Name:     call.Name,
		Args:     start.Args,
		State:    r.state,
		ThreadID: r.rt.ThreadID,
		RunID:    r.rt.RunID,
		UserID:   r.rt.UserID,
		Env:      r.rt.Env,
		Emit:     func(any) {},
		Progress: func(string) {},
	})
	if found == "" {
		return unknown
	}
	return unknown + "\n\n" + found
}

// ended is the outcome of a call with a result: its message, the rest of its update, and the event that tells of it.
func (r *run) ended(messageID string, call openCall, res *tool.Result, took time.Duration) outcome {
	tc := tool.Call{ID: call.ID, Name: call.Name}
	update := Messages.Append(toolMessage(r.rt, messageID, tc, res)).With(res.Update)
	_, err := update.Writes() // what cannot be stored fails the run here, not in a commit
	return outcome{call: call, update: update, fresh: err == nil, err: err, end: event.ToolEnd{
		CallID: call.ID, MessageID: messageID, Tool: call.Name, IsError: res.IsError,
		Goto: string(res.Goto), Summary: summaryOf(res), Millis: took.Milliseconds(),
	}}
}

// toolRequest checks the call and prepares it for the wrappers.
func (r *run) toolRequest(messageID string, call openCall) *ToolRequest {
	rt := r.rt
	req := &ToolRequest{Runtime: rt, messageID: messageID, jobs: &asked{}, Invalid: call.invalid, Call: tool.Call{
		ID: call.ID, Name: call.Name, Args: call.Args, State: r.state,
		ThreadID: rt.ThreadID, RunID: rt.RunID, UserID: rt.UserID, Env: rt.Env,
		Emit: func(v any) {
			if raw, err := json.Marshal(v); err == nil {
				rt.Emit(NodeTools, event.Custom{Value: raw})
			}
		},
		Progress: func(s string) { rt.Emit(NodeTools, event.Progress{CallID: call.ID, Text: s}) },
	}}
	req.Call.Env.Services.Later = req.jobs.collect(r.later)
	if rt.Resume != nil {
		own := interruptID(messageID, call.ID)
		req.Call.Answers = maps.Clone(rt.Resume.Answers[call.ID])
		req.Call.Answer = req.Call.Answers[own]
		delete(req.Call.Answers, own)
	}
	bound, ok := r.tools.byName[call.Name]
	if err := r.unavailable(call.Name); err != nil {
		req.Invalid = err.Error()
		return req
	}
	if !ok {
		req.Invalid = r.tools.unknown(call.Name) + r.failures()
		return req
	}
	req.Spec, req.tool = bound.spec, bound.tool
	if req.Invalid != "" {
		return req
	}
	if err := req.Call.Check(bound.schema); err != nil {
		req.Invalid = err.Error()
	}
	return req
}

// runTool is the innermost tool handler: it records the intent and runs the tool. A tool with side effects starts only
// after its intent is durable.
func runTool(ctx context.Context, req *ToolRequest) (*tool.Result, error) {
	if req.Invalid != "" {
		return tool.Error(req.Invalid), nil
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	rt := req.Runtime
	intent := event.ToolStart{CallID: req.Call.ID, MessageID: req.messageID, Tool: req.Call.Name, Args: req.Call.Args}
	if req.Spec.Effect == tool.SideEffects {
		r := run{rt: rt}
		if err := r.write(ctx, Step{Next: NodeTools, Events: []Emitted{{NodeTools, intent}}}); err != nil {
			return nil, err
		}
	} else {
		rt.Emit(NodeTools, intent)
	}
	limit := req.Spec.Timeout
	if limit == 0 {
		limit = rt.Config.ToolTimeout
	}
	return callBounded(ctx, req, limit)
}

// callBounded runs the tool until it ends, its time is up, or the run is cancelled. A tool that does not return then is
// left behind: what it still does is no longer waited for.
func callBounded(ctx context.Context, req *ToolRequest, limit time.Duration) (*tool.Result, error) {
	tctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type returned struct {
		res *tool.Result
		err error
	}
	done := make(chan returned, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- returned{err: panicked("tool", p)}
			}
		}()
		res, err := req.tool.Run(tctx, &req.Call)
		done <- returned{res, err}
	}()
	var r returned
	select {
	case r = <-done:
	case <-tctx.Done():
		select {
		case r = <-done:
		case <-time.After(cancelGrace):
			r.err = tctx.Err()
		}
	}
	if r.err != nil && ctx.Err() == nil && errors.Is(r.err, context.DeadlineExceeded) {
		return tool.Error(fmt.Sprintf("The tool did not finish within %s and was stopped.", limit)), nil
	}
	if r.res == nil && r.err == nil {
		return nil, errors.New("the tool returned neither a result nor an error")
	}
	return r.res, r.err
}

// merge commits all results as one step and goes where they lead: to the end if a result says so or if every tool
// returns directly, else to the model. The model waits for the commit if a result could not be had again.
func (r *run) merge(ctx context.Context, outcomes []outcome) error {
	next, direct, lazy := NodeBeforeModel, true, true
	for i, o := range outcomes {
		update := o.update
		if i == 0 {
			update = update.With(r.counted()...)
		}
		if err := r.apply(NodeTools, update); err != nil {
			return fmt.Errorf("%s: %w", o.call.Name, err)
		}
		if o.fresh { // without Writes: the update itself is in this step
			r.tell(o, o.end)
		}
		lazy = lazy && r.repeatable(o.call)
		direct = direct && r.tools.byName[o.call.Name].spec.ReturnDirect && !o.end.IsError
		if g := tool.Goto(o.end.Goto); g != "" && next != NodeAfterAgent {
			next = r.target(g)
		}
	}
	if direct {
		next = NodeAfterAgent
	}
	if StopState(r.state, r.rt.RunID).pending() {
		next = NodeBeforeModel
	}
	return r.commitStep(ctx, next, lazy)
}

// interrupt commits the results that there are and the questions; the checkpoint stays at the tools.
func (r *run) interrupt(ctx context.Context, outcomes []outcome, waiting []event.Interrupt) error {
	for _, o := range outcomes {
		for _, q := range o.asks {
			r.events = append(r.events, Emitted{NodeTools, q})
		}
		if o.fresh {
			r.tell(o, o.whole())
		}
	}
	if err := r.commit(ctx, NodeTools); err != nil {
		return err
	}
	return &Interrupted{Interrupts: waiting}
}

// keepSiblings puts the results that there are into the state of a run that fails, and the ends that are not recorded
// yet into its log.
func (r *run) keepSiblings(outcomes []outcome, failure error) error {
	if IsFatal(failure) {
		return nil
	}
	for _, o := range outcomes {
		if o.err == nil {
			if err := r.apply(NodeTools, o.update); err != nil {
				return fmt.Errorf("%s: %w", o.call.Name, err)
			}
			if o.fresh {
				r.tell(o, o.end)
			}
		}
	}
	return nil
}

func interrupts(outcomes []outcome) []event.Interrupt {
	var waiting []event.Interrupt
	for _, o := range outcomes {
		waiting = append(waiting, o.asks...)
	}
	return waiting
}

// firstFailure returns the error that ends the run: a failed commit, or any other unless the run is being cancelled,
// which is handled after the results are kept.
func firstFailure(ctx context.Context, outcomes []outcome) error {
	for _, o := range outcomes {
		if IsFatal(o.err) || o.err != nil && ctx.Err() == nil {
			return o.err
		}
	}
	return nil
}
