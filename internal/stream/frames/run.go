package frames

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// errorClass is the name of a failure, for clients that want one.
const errorClass = "RunError"

// run projects a change of the run's status.
func (p *Projector) run(ev *event.Event, d *event.Run) error {
	switch d.Status {
	case event.StatusPending:
		return nil
	case event.StatusRunning:
		if p.begun {
			return p.resumed(ev)
		}
		p.begin(ev)
		return nil
	}
	if d.Status == event.StatusError {
		if err := p.failed(ev, d); err != nil {
			return err
		}
	}
	p.emit(p.root, "end", null)
	p.ended = true
	return nil
}

// begin adds the first frame of a run, once.
func (p *Projector) begin(ev *event.Event) {
	if p.begun {
		return
	}
	p.begun = true
	o := rawjson.Begin(nil)
	o.String("run_id", p.cfg.RunID)
	o.String("thread_id", p.cfg.ThreadID)
	o.Int("attempt", int64(ev.ID.Attempt))
	p.emit(p.root, "metadata", append(o.Buf, '}'))
}

// opening shows the state that a run goes on with, if it has no input that shows it.
func (p *Projector) opening(s *scope, ev *event.Event) error {
	if p.open || !p.begun || s != p.root {
		return nil
	}
	if d, ok := ev.Data.(event.Run); ok && d.Status != event.StatusSuccess {
		return nil
	}
	if p.open = true; ev.Data.Kind() == event.KindState && ev.Node == agent.NodeInput {
		return nil
	}
	return p.values(s)
}

// resumed tells that another attempt goes on with the run: what was streamed behind its last durable event is void.
func (p *Projector) resumed(ev *event.Event) error {
	p.root.stream, p.open = nil, true // the state is shown below
	for _, s := range p.subs {
		s.stream = nil
	}
	if p.wants(inCustom) {
		o := rawjson.Begin(nil)
		o.String("type", "run_resumed")
		o.Int("attempt", int64(ev.ID.Attempt))
		o.String("kept", p.kept.String())
		p.emit(p.root, string(Custom), append(o.Buf, '}'))
	}
	return p.values(p.root)
}

// failed tells why the run failed, unless that is in the state already, or was asked for, or it only lacks a delivery.
func (p *Projector) failed(ev *event.Event, d *event.Run) error {
	p.begin(ev)
	if p.quiet || d.Error == store.RolledBack || d.Error == store.Undelivered {
		return nil
	}
	if err := p.root.settle(); err != nil {
		return err
	}
	if answeredFor(p.root.now, d.Error) {
		return nil
	}
	o := rawjson.Begin(nil)
	o.String("error", errorClass)
	o.String("name", errorClass)
	o.String("message", d.Error)
	p.emit(p.root, "error", append(o.Buf, '}'))
	return nil
}

// answeredFor reports whether the last answer says that the model failed with this error.
func answeredFor(s state.State, why string) bool {
	for _, m := range slices.Backward(agent.Messages.Get(s)) {
		if m.Role == message.AI {
			return string(m.Kwargs[message.KeyErrorFallback]) == "true" && m.Text() == why
		}
	}
	return false
}

// discard withdraws the pieces of a message that will never be in the state.
func (p *Projector) discard(s *scope, d *event.Discard) error {
	s.finished(d.MessageID)
	if p.wants(inTuples) {
		if err := s.origin(); err != nil {
			return err
		}
		p.remove(s, d.MessageID, p.metadataOf(s, agent.NodeModel, "", true))
	}
	if p.wants(inCustom) {
		o := rawjson.Begin(nil)
		o.String("type", "message_discarded")
		o.String("message_id", d.MessageID)
		o.String("reason", d.Reason)
		p.emit(s, string(Custom), append(o.Buf, '}'))
	}
	return p.values(s)
}

// interrupt shows a question to a human, or without an id, a breakpoint.
func (p *Projector) interrupt(s *scope, ev *event.Event, d *event.Interrupt) error {
	if d.InterruptID == "" {
		if p.wants(inUpdates) {
			p.emit(s, string(Updates), []byte(`{"__interrupt__":[]}`))
		}
		return nil
	}
	one, err := question(d)
	if err != nil {
		return err
	}
	s.asked = append(s.asked, one)
	if p.wants(inUpdates) {
		p.emit(s, string(Updates), slices.Concat([]byte(`{"__interrupt__":[`), one, []byte(`]}`)))
	}
	if err := p.toolStart(s, ev, &event.ToolStart{CallID: d.CallID}); err != nil { // of a call that was stopped before
		return err
	}
	if p.wants(inTasks | inDebug) {
		if err := p.taskResult(s, ev, agent.NodeTools, d.CallID, []byte("{}"), one); err != nil {
			return err
		}
	}
	return p.valuesAsked(s)
}

func question(d *event.Interrupt) ([]byte, error) {
	value, err := oneLine(d.Value)
	o := rawjson.Begin(nil)
	o.Raw("value", json.RawMessage(value))
	o.String("id", d.InterruptID)
	if err != nil {
		return nil, err
	}
	return o.End()
}

// valuesAsked shows the state with the questions that are open.
func (p *Projector) valuesAsked(s *scope) error {
	if !p.wants(inValues) {
		return nil
	}
	if err := s.settle(); err != nil {
		return err
	}
	values, err := s.values()
	if err != nil {
		return err
	}
	o := rawjson.Object{Buf: append(make([]byte, 0, len(values)+256), values[:len(values)-1]...)}
	o.Key("__interrupt__")
	o.Buf = append(append(append(o.Buf, '['), bytes.Join(s.asked, []byte{','})...), "]}"...)
	p.emit(s, string(Values), o.Buf)
	return nil
}
