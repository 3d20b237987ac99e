package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	"github.com/pudu-ai/pudu/internal/middleware/tokenusage"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// tape collects a recording from the events of a run, in their order.
type tape struct {
	src   Source
	run   store.Run
	rec   *Recording
	input []message.Message
	prior []message.Message // the conversation before the run

	talk    state.State // the conversation so far
	started bool        // talk is what it was before the run
	last    string      // the newest checkpoint
	// answers are the results, by turn and call.
	answers []map[string]message.Message
	said    []Value // to the run, since the last turn
	dropped bool    // the last model call was cancelled before it said anything
}

func (t *tape) event(ctx context.Context, ev event.Event) error {
	switch d := ev.Data.(type) {
	case event.State:
		if len(ev.Namespace) > 0 {
			return UnfitError("it gave work to sub-agents, whose turns cannot be recorded")
		}
		return t.state(ctx, ev.Node, d)
	case event.ToolEnd:
		if len(d.Writes) > 0 && len(ev.Namespace) == 0 {
			return t.writes("", d.Writes)
		}
	case event.Interrupt:
		t.rec.After.Questions = append(t.rec.After.Questions, Question{Call: d.CallID, Value: Value(d.Value)})
	case event.Discard:
		t.dropped = ev.Node == agent.NodeModel && len(ev.Namespace) == 0
	}
	return nil
}

// state takes an update of the thread's state.
func (t *tape) state(ctx context.Context, node string, d event.State) error {
	if !t.started {
		if err := t.before(ctx, d.Checkpoint); err != nil {
			return err
		}
	}
	t.last, t.dropped = d.Checkpoint, false
	if err := t.writes(node, d.Writes); err != nil {
		return err
	}
	var all []json.RawMessage
	var own []json.RawMessage
	if err := json.Unmarshal(d.Writes, &all); err != nil {
		return fmt.Errorf("decode an update of its state: %w", err)
	}
	for _, raw := range all {
		if w := (writeForm{}); json.Unmarshal(raw, &w) == nil && w.Channel == conversation {
			own = append(own, raw)
		}
	}
	raw, err := json.Marshal(own)
	if err != nil {
		return err
	}
	update, err := talkSchema().DecodeUpdate(raw)
	if err == nil {
		t.talk, _, err = t.talk.Apply(update)
	}
	return err
}

// writeForm is the stored form of one write.
type writeForm struct {
	Channel string          `json:"c"`
	Op      state.Op        `json:"op"`
	Value   json.RawMessage `json:"v"`
}

// knownSchema declares what more than one feature knows; other channels pass through.
func knownSchema() (state.Schema, error) {
	return state.NewSchema(append(threadstate.Channels(), agent.Channels()...)...)
}

func talkSchema() state.Schema { return state.Schema{conversation: agent.Messages} }

// writes takes the answers of the model and of the tools out of an update.
func (t *tape) writes(node string, raw json.RawMessage) error {
	var list []writeForm
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("decode an update of its state: %w", err)
	}
	for _, w := range list {
		if w.Channel != conversation || w.Op != state.OpAppend {
			continue
		}
		var msgs []message.Message
		if err := json.Unmarshal(w.Value, &msgs); err != nil {
			return fmt.Errorf("decode its messages: %w", err)
		}
		for _, m := range msgs {
			switch {
			case node == agent.NodeSteer:
				raw, err := brief(m)
				if err != nil {
					return err
				}
				t.said = append(t.said, raw)
			case m.Role == message.AI && node == agent.NodeModel:
				if err := t.turn(m); err != nil {
					return err
				}
			case m.Role == message.Tool && len(t.answers) > 0:
				if m.Kwargs[message.KeyOutcomeUnknown] != nil {
					return UnfitError(fmt.Sprintf("a crash cut off its call %s of %s, and how far that came is "+
						"unknown: run again, it would "+
						"come to its end; record a run that was not cut off", m.ToolCallID, m.Name))
				}
				t.answers[len(t.answers)-1][m.ToolCallID] = m
			}
		}
	}
	return nil
}

// before notes the state that the thread had before the checkpoint, the run's first.
func (t *tape) before(ctx context.Context, first string) error {
	t.started = true
	schema, err := knownSchema()
	if err != nil {
		return err
	}
	cp, err := t.src.Store.Checkpoint(ctx, schema, t.run.ThreadID, first)
	if err != nil || cp.ParentID == "" {
		return err
	}
	if cp, err = t.src.Store.Checkpoint(ctx, schema, t.run.ThreadID, cp.ParentID); err != nil {
		return err
	}
	values, err := cp.State.Values() // with those of channels that only a middleware knows
	if err != nil {
		return err
	}
	if list := threadstate.Background.Get(cp.State); len(list) > 0 { // private, and the model is told of it
		if values[threadstate.Background.Name()], err = json.Marshal(list); err != nil {
			return err
		}
	}
	t.rec.Before = make(map[string]Value)
	for name, raw := range values {
		if !placed(name) && !ofOneRun(name) {
			t.rec.Before[name] = Value(raw)
		}
	}
	if raw := values[conversation]; raw != nil {
		if t.talk, err = talkSchema().Load(map[string]json.RawMessage{conversation: raw}); err == nil {
			err = t.talk.Check()
		}
		t.prior = agent.Messages.Get(t.talk)
	}
	return err
}

// turn notes an answer of the model.
func (t *tape) turn(m message.Message) error {
	turn := Turn{Sees: len(agent.Messages.Get(t.talk))}
	if reason, failed := llmerror.FallbackOf(m); failed {
		if reason == llmerror.ReasonCircuitOpen {
			return UnfitError("its model was not asked, because calls of other runs had failed before; record " +
				"another run")
		}
		turn.Text, turn.Error = Str(m.Text()), failure(m, reason)
		t.add(turn, m.ID)
		return nil
	}
	turn.Cancelled = m.Kwargs[message.KeyPartial] != nil
	if err := turn.content(m.Content); err != nil {
		return err
	}
	for _, c := range m.ToolCalls {
		turn.Calls = append(turn.Calls, Call{ID: c.ID, Tool: c.Name, Args: Value(c.Args), Extra: object(c.Extra)})
	}
	for _, c := range m.InvalidToolCalls {
		args := Str(c.Args)
		turn.Calls = append(turn.Calls, Call{ID: c.ID, Tool: c.Name, RawArgs: &args, Extra: object(c.Extra)})
	}
	_ = json.Unmarshal(m.ResponseMetadata[keyFinish], &turn.FinishReason) // absent is empty
	turn.Metadata = object(m.ResponseMetadata, keyFinish)
	turn.Kwargs = object(m.Kwargs, message.KeyPartial, tokenusage.Key) // the latter is the program's own
	if u := m.Usage; u != nil {
		turn.Usage = &Usage{u.InputTokens, u.OutputTokens, u.TotalTokens, u.CacheRead, u.CacheCreation, u.Reasoning}
	}
	t.add(turn, m.ID)
	return nil
}

const keyFinish = "finish_reason"

func (t *tape) add(turn Turn, messageID string) {
	turn.ID, turn.Said, t.said = messageID, t.said, nil
	t.rec.Turns = append(t.rec.Turns, turn)
	t.answers = append(t.answers, make(map[string]message.Message))
}

// content notes the parts of an answer, in the short form if that says all.
func (t *Turn) content(parts []message.Part) error {
	plain := len(parts) <= 2
	for i, p := range parts {
		if p.Type != message.PartText && p.Type != message.PartReasoning || len(p.Extra) > 0 {
			return UnfitError(fmt.Sprintf("its model answered with a part of type %q, which cannot be played", p.Type))
		}
		plain = plain && p.Signature == "" && p.Redacted == "" &&
			(i == 1) == (p.Type == message.PartText && len(parts) == 2)
	}
	for _, p := range parts {
		text := p.Type == message.PartText
		switch {
		case plain && text:
			t.Text = Str(p.Text)
		case plain:
			t.Reasoning = Str(p.Text)
		case text:
			t.Content = append(t.Content, Part{Text: Str(p.Text)})
		default:
			t.Content = append(t.Content, Part{Reasoning: Str(p.Text), Signature: p.Signature, Redacted: p.Redacted})
		}
	}
	return nil
}

// object is the fields but those left out, as a JSON object; none is empty.
func object(f message.Fields, without ...string) Value {
	rest := maps.Clone(f)
	for _, k := range without {
		delete(rest, k)
	}
	if len(rest) == 0 {
		return nil
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return nil // these came out of a decoded message, so all are JSON
	}
	return raw
}

// The sentences of a failed call's answer that say what its other fields do not.
var (
	saysStatus = regexp.MustCompile(` The answer was HTTP (\d{3})`)
	saysWait   = regexp.MustCompile(` asks to wait (\S+) before the next call\.`)
)

// failure is how the call failed whose place m has taken.
func failure(m message.Message, class string) *Failure {
	f := &Failure{Class: class}
	var detail, kind string
	_ = json.Unmarshal(m.Kwargs[llmerror.KeyErrorDetail], &detail)
	_ = json.Unmarshal(m.Kwargs[llmerror.KeyErrorType], &kind)
	f.Message = Str(detail)
	if found := saysStatus.FindStringSubmatch(m.Text()); found != nil {
		f.Status, _ = strconv.Atoi(found[1])
	}
	if found := saysWait.FindStringSubmatch(m.Text()); found != nil {
		f.RetryAfter = found[1]
	}
	return f
}

// ended adds the model call that the run ended in without an answer, and the results.
func (t *tape) ended() error {
	r := t.rec
	sees := len(agent.Messages.Get(t.talk))
	last := Turn{}
	if n := len(r.Turns); n > 0 {
		last = r.Turns[n-1]
	}
	text, failed := strings.CutPrefix(t.run.Error, agent.NodeModel+": ")
	switch cancelled := t.run.StopReason == store.Cancelled; {
	case t.run.Status == event.StatusError && failed && last.Error == nil:
		t.add(Turn{Sees: sees, Error: &Failure{Message: Str(text)}}, "")
	case cancelled && (t.dropped || len(r.Turns) == 0):
		t.add(Turn{Sees: sees, Cancelled: true}, "")
	case cancelled && !last.Cancelled:
		return UnfitError("it was cancelled while its tools ran, at a moment that no second run would meet; record a " +
			"run that came to its end")
	}
	for i := range r.Turns {
		for j := range r.Turns[i].Calls {
			c := &r.Turns[i].Calls[j]
			if m, ok := t.answers[i][c.ID]; ok {
				c.Result = &Result{Status: cmp.Or(m.Status, message.StatusSuccess)}
			}
		}
	}
	return nil
}

// brief is a message without the members that say nothing.
func brief(m message.Message) (Value, error) {
	raw, err := m.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	for k, v := range members {
		if v := bytes.TrimSpace(v); k != "content" && (bytes.Equal(v, []byte("null")) || bytes.Equal(v, []byte("{}")) ||
			bytes.Equal(v, []byte("[]"))) {
			delete(members, k)
		}
	}
	return json.Marshal(members)
}
