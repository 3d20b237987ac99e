package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// ending is what a run has left behind.
type ending struct {
	run     store.Run
	schema  state.Schema
	state   state.State
	events  []event.Event
	below   []state.State   // of the runs below it
	effects map[string]int  // lines of the effects, by text
	items   map[string]bool // what was written, see itemsOf
	faults  []string        // of the store
}

// end reads what the run has left behind.
func (s *site) end(ctx context.Context) (e ending, err error) {
	st, err := s.open(ctx)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if e.schema, err = s.order.schema(); err != nil {
		return e, err
	}
	if e.run, err = theRun(ctx, st); err != nil {
		return e, err
	}
	cp, err := st.For(user()).Checkpoint(ctx, e.schema, threadID, "")
	if err != nil {
		return e, err
	}
	e.state = cp.State
	if e.events, err = st.For(user()).Events(ctx, e.run.ID, event.ID{}, 10_000); err != nil {
		return e, err
	}
	if err = e.readBelow(ctx, st); err != nil {
		return e, err
	}
	if e.faults, err = verify(ctx, st, e.schema); err != nil {
		return e, err
	}
	e.items = s.items
	e.effects, err = readEffects(s.order.Dir)
	return e, err
}

func verify(ctx context.Context, st *sqlstore.Store, schema state.Schema) (faults []string, err error) {
	err = st.Verify(ctx, schema, store.Visitor{Problem: func(p store.Problem) {
		faults = append(faults, fmt.Sprintf("store: %s %s: %s", p.ThreadID, p.Row, p.Text))
	}})
	return faults, err
}

// verdict is how a run compares with the undisturbed one.
type verdict struct {
	tally
	wrong []string // each breach of what is promised
}

func (v *verdict) breachf(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

// judge compares what a run left behind with what the undisturbed one did, and with what readers saw on the way.
func (s *site) judge(got, want ending) verdict {
	var v verdict
	v.wrong = append(v.wrong, got.faults...)
	v.checkEnd(got, s.order.Way)
	unknown := unknownCalls(got.state)
	for _, below := range got.below {
		maps.Copy(unknown, unknownCalls(below))
	}
	v.checkLog(got, s.order.Way)
	v.checkBelow(got, want)
	v.checkEvents(s, got)
	if s.order.Way == wayRollback { // nothing is left to tell which outcome is unknown
		v.checkNothingLeft(got, want)
		return v
	}
	v.checkEffects(got, want, unknown)
	v.checkState(got, want, unknown, s.order.Way == wayCancel)
	v.checkSeen(s, got)
	return v
}

// checkEnd compares how the run has ended with how it had to.
func (v *verdict) checkEnd(got ending, w way) {
	if end, is := w.end(), got.run; is.Status != end.Status || is.Error != end.Error ||
		is.StopReason != end.StopReason {
		v.breachf("the run ended as %s (%s): %s", is.Status, is.StopReason, is.Error)
		return
	}
	v.finished = 1
}

// checkNothingLeft looks at a run that was rolled back, on a thread that was empty before.
func (v *verdict) checkNothingLeft(got, want ending) {
	if msgs := agent.Messages.Get(got.state); len(msgs) > 0 {
		v.breachf("the thread holds %d messages of a run that was rolled back", len(msgs))
	}
	for line, n := range got.effects {
		if want.effects[line] == 0 || n > 1 && effectOf(strings.Fields(line)[1]) == tool.SideEffects {
			v.duplicated++
			v.breachf("effect %q happened %d times", line, n)
		}
	}
}

// unknownCalls are the calls whose message says that the outcome is unknown.
func unknownCalls(s state.State) map[string]bool {
	unknown := make(map[string]bool)
	for _, m := range agent.Messages.Get(s) {
		if m.Kwargs[message.KeyOutcomeUnknown] != nil {
			unknown[m.ToolCallID] = true
		}
	}
	return unknown
}

// effectOf tells what may be done twice. bash is what it says of itself.
func effectOf(toolName string) tool.Effect {
	for _, d := range deeds() {
		if d.name == toolName {
			return d.effect
		}
	}
	if toolName == "flaky" {
		return tool.Idempotent
	}
	return tool.SideEffects
}

// checkEffects looks for what happened too often or never.
func (v *verdict) checkEffects(got, want ending, unknown map[string]bool) {
	for _, line := range slices.Sorted(maps.Keys(want.effects)) {
		v.effects++
		callID, rest, _ := strings.Cut(line, " ")
		toolName, _, _ := strings.Cut(rest, " ")
		n, once := got.effects[line], effectOf(toolName) == tool.SideEffects
		switch {
		case once && n > 1:
			v.duplicated++
			v.breachf("effect %q happened %d times", line, n)
		case unknown[callID]:
			v.unknown++
			if !once {
				v.breachf("call %s of %s, which may run twice, has an unknown outcome", callID, toolName)
			}
		case n == 0:
			v.lost++
			v.breachf("effect %q never happened, and its call has a result", line)
		default:
			v.once++
		}
	}
	for line := range got.effects {
		if want.effects[line] == 0 {
			v.breachf("effect %q was never asked for", line)
		}
	}
}

// checkState compares the states, but for ids, times and the messages of unknown outcomes. Where a run was stopped, its
// last messages may be missing, with all that they brought: what was under way when the process died is not asked for
// again.
func (v *verdict) checkState(got, want ending, unknown map[string]bool, stopped bool) {
	g, errG := portray(got, unknown)
	w, errW := portray(want, unknown)
	if err := errors.Join(errG, errW); err != nil {
		v.breachf("read state: %v", err)
	}
	if !anyKnown(want.effects, "bash", unknown) { // the result of one would have noted the sandbox
		delete(w, "channel sandbox")
		delete(g, "channel sandbox")
	}
	if stopped {
		maps.DeleteFunc(w, func(key, _ string) bool { return g[key] == "" || !strings.HasPrefix(key, "message ") })
		maps.DeleteFunc(g, func(key, _ string) bool { return !strings.HasPrefix(key, "message ") })
	}
	for _, key := range slices.Sorted(maps.Keys(w)) {
		if g[key] != w[key] {
			v.differences++
			v.breachf("state: %s is %.400s, undisturbed %.400s", key, g[key], w[key])
		}
	}
	for key := range g {
		if _, ok := w[key]; !ok {
			v.differences++
			v.breachf("state: %s is there: %.400s", key, g[key])
		}
	}
}

// anyKnown reports whether a call of the tool has a result.
func anyKnown(effects map[string]int, toolName string, unknown map[string]bool) bool {
	for line := range effects {
		if callID, rest, _ := strings.Cut(line, " "); strings.HasPrefix(rest, toolName) && !unknown[callID] {
			return true
		}
	}
	return false
}

// portray describes a state piece by piece, without what differs between two runs by nature.
func portray(e ending, unknown map[string]bool) (map[string]string, error) {
	p := make(map[string]string)
	msgs := agent.Messages.Get(e.state)
	ids := []string{e.run.ID, "RUN"}
	for i, m := range msgs {
		ids = append(ids, m.ID, fmt.Sprint("MESSAGE", i))
	}
	plain := strings.NewReplacer(ids...)
	for i, m := range msgs {
		if m.Role == message.Human {
			m.Kwargs = maps.Clone(m.Kwargs)
			delete(m.Kwargs, "timestamp")
		}
		if unknown[m.ToolCallID] && m.Role == message.Tool {
			m = message.Message{ID: m.ID, Role: m.Role, ToolCallID: m.ToolCallID, Name: m.Name}
		}
		raw, err := m.AppendJSON(nil)
		if err != nil {
			return nil, err
		}
		p[fmt.Sprint("message ", i)] = plain.Replace(string(raw))
	}
	snapshot, err := e.state.AppendSnapshot(nil)
	if err != nil {
		return nil, err
	}
	all, err := state.Schema(nil).LoadSnapshot(snapshot) // no channel is private to it
	if err != nil {
		return nil, err
	}
	channels, err := all.Values()
	for name, raw := range channels {
		if name != agent.Messages.Name() {
			p["channel "+name] = plain.Replace(string(raw))
		}
	}
	return p, err
}

// checkLog reads the log as a client would that was away: its ids grow, it makes the state, every call has one result,
// but for one that was cancelled before it began, and one whose outcome is unknown began in an earlier attempt.
func (v *verdict) checkLog(got ending, w way) {
	var last event.ID
	results := make(map[string]int)
	begun, ended := make(map[string]int), make(map[string]int) // the attempt, by call
	read, err := got.schema.Load(nil)
	if err != nil {
		v.breachf("log: %v", err)
	}
	for _, ev := range got.events {
		if ev.ID.Compare(last) <= 0 {
			v.breachf("log: event %s comes after %s", ev.ID, last)
		}
		last = ev.ID
		switch d := ev.Data.(type) {
		case event.ToolStart:
			begun[d.CallID] = ev.ID.Attempt
		case event.ToolEnd:
			results[d.CallID]++
			ended[d.CallID] = ev.ID.Attempt
		case event.State:
			if read, err = read.Replay(d.Writes); err != nil {
				v.breachf("log: event %s cannot be applied: %v", ev.ID, err)
			}
		}
	}
	for _, m := range agent.Messages.Get(got.state) {
		if n := results[m.ToolCallID]; m.Role == message.Tool && n != 1 && (w != wayCancel || n > 1) {
			v.breachf("log: call %s has %d results", m.ToolCallID, results[m.ToolCallID])
		}
	}
	for callID := range unknownCalls(got.state) {
		if begun[callID] == 0 || begun[callID] >= ended[callID] {
			v.breachf("log: call %s has an unknown outcome, and began in attempt %d, ended in %d", callID,
				begun[callID], ended[callID])
		}
	}
	if w == wayRollback { // the state before the run is no update of the run
		return
	}
	a, errA := read.AppendSnapshot(nil)
	b, errB := got.state.AppendSnapshot(nil)
	if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
		v.breachf("log: its updates do not make the state (%v): %.300s", err, a)
	}
}

// checkSeen looks for the messages that readers were shown as committed.
func (v *verdict) checkSeen(s *site, got ending) {
	have := make(map[string]string)
	for _, m := range agent.Messages.Get(got.state) {
		have[m.ID] = sumMessage(m)
	}
	for id, sum := range s.seen {
		if have[id] != sum {
			v.breachf("message %s, which was shown as committed, is gone or has changed", id)
		}
	}
}

// checkEvents looks for the events that readers were shown as committed.
func (v *verdict) checkEvents(s *site, got ending) {
	logged := make(map[string]string)
	for _, ev := range got.events {
		logged[ev.ID.String()] = sumEvent(ev)
	}
	for id, sum := range s.events {
		if logged[id] != sum {
			v.breachf("event %s, which was shown as committed, is gone or has changed", id)
		}
	}
}
