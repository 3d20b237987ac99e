package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// maxInlined bounds the messages of a run's records that are remembered while one is looked for, in bytes.
const maxInlined = 64 << 20

// rebuilt is a request again.
type rebuilt struct {
	frame    frame
	hasFrame bool // false: its parts are not kept any more
	messages []message.Message
	// whole says that the messages are those that were sent.
	whole bool
}

// rebuild makes the request of a record again. inlined are the messages that records of the run have, by their names.
func (m *Mine) rebuild(ctx context.Context, run store.Run, r *record,
	inlined map[string]json.RawMessage) (out rebuilt, err error) {
	d, err := parse(r.Sent)
	if err != nil {
		return out, err
	}
	out.frame, out.hasFrame, err = m.frame(ctx, d.frame)
	if err != nil {
		return out, err
	}
	states, err := m.states(ctx, run, r)
	if err != nil {
		return out, err
	}
	for _, s := range states {
		msgs, errMade := d.of(s, m.all.cfg.Messages(s), inlined)
		if errMade != nil {
			err = errMade
			continue
		}
		out.messages, out.whole = msgs, sumOf(msgs) == d.sum
		if out.whole {
			return out, nil
		}
	}
	if out.messages != nil {
		err = nil
	}
	return out, err
}

// of makes the messages again, of a state and its conversation.
func (d *difference) of(s state.State, msgs []message.Message,
	inlined map[string]json.RawMessage) ([]message.Message, error) {
	from := msgs
	if !d.plain {
		from = project(s, msgs, new(conversation.Memo).Map(msgs, conversation.AppendSent))
	}
	if d.pieces == nil {
		return slices.Clip(from), nil
	}
	out := make([]message.Message, 0, len(from))
	for _, p := range d.pieces {
		switch {
		case p.n > 0 && (p.from > len(from) || p.n > len(from)-p.from):
			return nil, fmt.Errorf("%w: the conversation does not have the messages that the call was sent",
				store.ErrCorrupt)
		case p.n > 0:
			out = append(out, from[p.from:p.from+p.n]...)
			continue
		case p.named != "":
			p.own = inlined[p.named]
		}
		one, err := own(p.own)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// states are those that a request may have been made of, the likeliest first. A call is noted with the step that it
// belongs to: the state is that before, with the updates of the step that came before the call.
func (m *Mine) states(ctx context.Context, run store.Run, r *record) ([]state.State, error) {
	last, errLast := m.state(ctx, run, r.before)
	if errLast != nil {
		return nil, errLast
	}
	list := []state.State{last}
	answered := r.answer() != nil // else the call comes behind the step, or the step has nothing of it
	for i, u := range r.updates {
		if answered && r.nodes[i] == nodeModel {
			break
		}
		update, err := m.all.cfg.Schema.DecodeUpdate(u.Writes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
		next, _, err := list[len(list)-1].Apply(update)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
		list = append(list, next)
	}
	slices.Reverse(list)
	return list, nil
}

func (m *Mine) state(ctx context.Context, run store.Run, checkpoint string) (state.State, error) {
	if checkpoint == "" {
		checkpoint = store.Origin
	}
	cp, err := m.data.Checkpoint(ctx, m.all.cfg.Schema, run.ThreadID, checkpoint)
	return cp.State, err
}

// frame reads what the call has in common with others; false if that is not kept any more.
func (m *Mine) frame(ctx context.Context, name string) (f frame, ok bool, err error) {
	raw, err := m.part(ctx, name)
	var form frameForm
	if err == nil {
		err = json.Unmarshal(raw, &form)
	}
	f.Model, f.Provider, f.Settings = form.Model, form.Provider, model.Settings(form.Settings)
	if err == nil && form.System != "" {
		raw, err = m.part(ctx, form.System)
		f.System = string(raw)
	}
	if err == nil && form.Tools != "" {
		f.Tools, err = m.tools(ctx, form.Tools)
	}
	if errors.Is(err, store.ErrNotFound) {
		return f, false, nil
	}
	return f, err == nil, err
}

func (m *Mine) tools(ctx context.Context, name string) (tools []model.Tool, err error) {
	raw, err := m.part(ctx, name)
	var list []Tool
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	for _, t := range list {
		tools = append(tools, model.Tool(t))
	}
	return tools, err
}
