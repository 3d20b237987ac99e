package frames

import (
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// beginTask shows that a node begins, with the state that it begins on.
func (p *Projector) beginTask(s *scope, node, call string, at time.Time) error {
	if !p.wants(inTasks | inDebug) {
		return nil
	}
	if err := s.settle(); err != nil {
		return err
	}
	input, err := s.values()
	if err != nil {
		return err
	}
	o := rawjson.Begin(make([]byte, 0, len(input)+512))
	o.String("id", p.task(s, node, call))
	o.String("name", node)
	o.Key("input")
	o.Buf = append(o.Buf, input...)
	o.Raw("triggers", triggers(node))
	o.Key("interrupts")
	o.Buf = append(o.Buf, "[]"...)
	o.Key("metadata")
	o.Buf = append(o.Buf, p.meta.config...)
	return p.taskFrame(s, "task", at, &o)
}

// beginLate shows the beginning of a node that nothing but its update tells of.
func (p *Projector) beginLate(s *scope, c *change, u update) error {
	if !p.wants(inTasks|inDebug) || c.node == agent.NodeInput {
		return nil
	}
	begun := false
	switch msgs := brought(s.schema, u, nil); c.node {
	case agent.NodeModel:
		begun = len(msgs) > 0 && s.stream != nil && s.stream.id == msgs[0].ID
	case agent.NodeTools:
		c.call = answered(msgs)
		begun = s.started[c.call]
	}
	if begun {
		return nil
	}
	return p.beginTask(s, c.node, c.call, p.clock)
}

// answered is the tool call that a tools node's messages answer; empty if there is none.
func answered(msgs []arrival) string {
	for _, m := range msgs {
		if m.Role == message.Tool {
			return m.ToolCallID
		}
	}
	return ""
}

// toolStart shows that a tool call begins.
func (p *Projector) toolStart(s *scope, ev *event.Event, d *event.ToolStart) error {
	if p.want&(inTasks|inDebug) == 0 || s.started[d.CallID] {
		return nil
	}
	if s.started == nil {
		s.started = make(map[string]bool)
	}
	s.started[d.CallID] = true
	return p.beginTask(s, agent.NodeTools, d.CallID, ev.Time)
}

// endTask shows what a node has written.
func (p *Projector) endTask(s *scope, ev *event.Event, c *change, written []byte) error {
	if !p.wants(inTasks | inDebug) {
		return nil
	}
	return p.taskResult(s, ev, c.node, c.call, written, nil)
}

func (p *Projector) taskResult(s *scope, ev *event.Event, node, call string, written, interrupts []byte) error {
	o := rawjson.Begin(make([]byte, 0, len(written)+len(interrupts)+256))
	o.String("id", p.task(s, node, call))
	o.String("name", node)
	o.Raw("error", nil)
	o.Key("result")
	o.Buf = append(o.Buf, written...)
	o.Key("interrupts")
	o.Buf = append(append(append(o.Buf, '['), interrupts...), ']')
	return p.taskFrame(s, "task_result", ev.Time, &o)
}

// taskFrame adds the frames of a task's beginning or result.
func (p *Projector) taskFrame(s *scope, typ string, at time.Time, o *rawjson.Object) error {
	payload, err := o.End()
	if err != nil {
		return err
	}
	if p.wants(inTasks) {
		p.emit(s, string(Tasks), payload)
	}
	p.debug(s, typ, at, payload)
	return nil
}

// debug adds a payload with its step and time. The time of what is not durable is that of the last durable event
// before.
func (p *Projector) debug(s *scope, typ string, at time.Time, payload []byte) {
	if !p.wants(inDebug) {
		return
	}
	o := rawjson.Begin(make([]byte, 0, len(payload)+128))
	o.Int("step", int64(s.step()))
	o.String("timestamp", at.UTC().Format("2006-01-02T15:04:05.000000+00:00"))
	o.String("type", typ)
	o.Key("payload")
	p.emit(s, string(Debug), append(append(o.Buf, payload...), '}'))
}

// checkpoint shows the checkpoint that a node's update completes.
func (p *Projector) checkpoint(s *scope, ev *event.Event, d *event.State) error {
	if !p.wants(inCheckpoints|inDebug) || !d.Last {
		return nil
	}
	values, err := s.values()
	if err != nil {
		return err
	}
	parent := s.parent
	if s.done == 0 {
		parent = s.base.ID
	}
	source := "loop"
	if s.input || ev.Node == agent.NodeInput {
		source = "input"
	}
	o := rawjson.Begin(make([]byte, 0, len(values)+1024))
	p.config(&o, "config", s, d.Checkpoint)
	p.config(&o, "parent_config", s, parent)
	o.Key("values")
	o.Buf = append(o.Buf, values...)
	o.Key("metadata")
	m := rawjson.Begin(o.Buf)
	m.String("source", source)
	m.Int("step", int64(s.step()))
	m.Object("parents", nil)
	m.String("run_id", p.cfg.RunID)
	m.String("thread_id", p.cfg.ThreadID)
	o.Buf = append(m.Buf, '}')
	p.next(&o, s, d.Next)
	payload, err := o.End()
	if p.wants(inCheckpoints) {
		p.emit(s, string(Checkpoints), payload)
	}
	p.debug(s, "checkpoint", ev.Time, payload)
	return err
}

// config adds where a checkpoint is, or null for none.
func (p *Projector) config(o *rawjson.Object, name string, s *scope, id string) {
	if id == "" {
		o.Raw(name, nil)
		return
	}
	o.Key(name)
	in := rawjson.Begin(append(o.Buf, `{"configurable":`...))
	in.String("thread_id", p.cfg.ThreadID)
	in.String("checkpoint_ns", strings.TrimSuffix(s.path, "|"))
	in.String("checkpoint_id", id)
	o.Buf = append(in.Buf, "}}"...)
}

// NextNode is the node that clients see as the one that comes next. What comes before the model counts as the model,
// whose answer is what a client waits for; what comes after the last answer counts as the end, [agent.Done].
func NextNode(next string) string {
	switch next {
	case agent.NodeBeforeAgent, agent.NodeBeforeModel, agent.NodeModel:
		return agent.NodeModel
	case agent.NodeAfterAgent:
		return agent.Done
	}
	return next
}

// next adds the node that follows, and its task.
func (p *Projector) next(o *rawjson.Object, s *scope, next string) {
	node := NextNode(next)
	if node == agent.Done {
		o.Buf = append(o.Buf, `,"next":[],"tasks":[]`...)
		return
	}
	o.Key("next")
	o.Buf = append(rawjson.AppendString(append(o.Buf, '['), node), ']')
	o.Key("tasks")
	in := rawjson.Begin(append(o.Buf, '['))
	in.String("id", TaskID(p.cfg.RunID, s.step()+1, s.path+node, ""))
	in.String("name", node)
	in.Raw("interrupts", []byte("[]"))
	in.Raw("state", nil)
	o.Buf = append(in.Buf, "}]"...)
}
