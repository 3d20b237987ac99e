package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Player is the model of a replay: it gives the recorded answers one after the other, whatever it is asked, and notes
// when a request lacks what it must hold. A failed call is given again, as the recorded one failed each time.
type Player struct {
	rec    *Recording
	input  []message.Message
	cancel func() // cancels the run, as its user did
	// say says to the run, which waits for the model, what it is to read before the next call.
	say func(ctx context.Context, list []Value) error

	mu   sync.Mutex
	next int // the turn that comes
	// extra is what the model was asked beyond its turns; lacks is what a request lacked, and at which turn.
	extra   string
	lacks   string
	lacksAt int
	unsaid  error // why something could not be said
}

var _ model.ChatModel = (*Player)(nil)

// newPlayer makes the model of one replay.
func newPlayer(r *Recording, input []message.Message, cancel func()) *Player {
	return &Player{rec: r, input: input, cancel: cancel}
}

// Name is that of the recorded model, which is a part of some texts.
func (p *Player) Name() string { return p.rec.Model }

// Stream implements [model.ChatModel].
func (p *Player) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		turn, err := p.turn(req)
		if err != nil {
			yield(message.Chunk{}, err)
			return
		}
		if turn.Error != nil {
			yield(message.Chunk{}, p.failure(turn.Error))
			return
		}
		for _, c := range turn.chunks() {
			if !yield(c, nil) {
				return
			}
		}
		if turn.Cancelled {
			p.count()
			p.cancel()
			<-ctx.Done()
			yield(message.Chunk{}, context.Cause(ctx))
			return
		}
		if err := p.advance(ctx); err != nil {
			yield(message.Chunk{}, err)
			return
		}
		yield(turn.last(), nil)
	}
}

// Inside returns the middleware that gives the answers the ids that they had, wherever names derive from them.
func (p *Player) Inside() agent.Middleware { return sameIDs{p} }

type sameIDs struct{ *Player }

var _ agent.ModelCallWrapper = sameIDs{}

// Name implements [agent.Middleware].
func (sameIDs) Name() string { return "ReplayMiddleware" }

// WrapModelCall implements [agent.ModelCallWrapper].
func (m sameIDs) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	id := m.nextID()
	if id == "" {
		return next(ctx, req)
	}
	rt, same := *req.Runtime, *req
	rt.NewID = func() string { return id }
	same.Runtime = &rt
	return next(ctx, &same)
}

// nextID is the id of the answer that comes; empty if none is known.
func (p *Player) nextID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.rec.Turns) {
		return ""
	}
	return p.rec.Turns[p.next].ID
}

// turn is the answer to the request.
func (p *Player) turn(req *model.Request) (*Turn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.rec.Turns) {
		if p.extra == "" {
			p.extra = lastOf(req.Messages)
		}
		return nil, fmt.Errorf("the recording has %d turns, and the model is asked once more", len(p.rec.Turns))
	}
	if what := p.missing(req); what != "" && p.lacks == "" {
		p.lacks, p.lacksAt = what, p.next
	}
	return &p.rec.Turns[p.next], nil
}

func (p *Player) count() (next int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return p.next
}

// advance ends a turn. The run hears meanwhile what it read before the next one.
func (p *Player) advance(ctx context.Context) error {
	next := p.count()
	if next >= len(p.rec.Turns) || len(p.rec.Turns[next].Said) == 0 {
		return nil
	}
	err := p.say(ctx, p.rec.Turns[next].Said)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unsaid = err
	return err
}

// missing is what the request must hold and does not: the input, and then the results of the turn before.
func (p *Player) missing(req *model.Request) string {
	if p.next == 0 {
		for i, in := range p.input {
			if in.Role == message.Human && !slices.ContainsFunc(req.Messages, func(m message.Message) bool {
				return m.Role == message.Human && strings.Contains(m.Text(), in.Text())
			}) {
				return fmt.Sprintf("message %d of the input", i+1)
			}
		}
		return ""
	}
	for _, c := range p.rec.Turns[p.next-1].Calls {
		if c.Result != nil && !slices.ContainsFunc(req.Messages, func(m message.Message) bool {
			return m.Role == message.Tool && m.ToolCallID == c.ID
		}) {
			return fmt.Sprintf("the result of the call %s of %s", c.ID, c.Tool)
		}
	}
	return ""
}

// lastOf describes the newest message.
func lastOf(msgs []message.Message) string {
	if len(msgs) == 0 {
		return "an empty conversation"
	}
	m := msgs[len(msgs)-1]
	return fmt.Sprintf("a conversation of %d messages, the last from %s:\n%s", len(msgs), m.Role,
		indent(excerpt.Bound(visible(m), 500)))
}

func (p *Player) failure(f *Failure) error {
	if f.Class == "" {
		return errors.New(string(f.Message))
	}
	wait, _ := f.wait() // checked when it was read
	provider, name, _ := strings.Cut(p.rec.Model, "/")
	return &model.Error{
		Class: model.Class(f.Class), Provider: provider, Model: name, Status: f.Status, Message: string(f.Message),
		RetryAfter: wait,
	}
}

// chunks are the pieces of the answer, without the last.
func (t *Turn) chunks() []message.Chunk {
	var out []message.Chunk
	add := func(c message.Chunk) {
		if c.Text != "" || c.Reasoning != "" || c.Signature != "" || c.Redacted != "" {
			out = append(out, c)
		}
	}
	add(message.Chunk{Reasoning: string(t.Reasoning)})
	add(message.Chunk{Text: string(t.Text)})
	for _, p := range t.Content {
		add(message.Chunk{Text: string(p.Text), Reasoning: string(p.Reasoning), Signature: p.Signature,
			Redacted: p.Redacted})
	}
	for i, c := range t.Calls {
		args := string(c.Args)
		if c.RawArgs != nil {
			args = string(*c.RawArgs)
		}
		piece := message.ToolCallChunk{Index: i, ID: c.ID, Name: c.Tool, Args: args, Extra: fields(c.Extra)}
		out = append(out, message.Chunk{ToolCalls: []message.ToolCallChunk{piece}})
	}
	return out
}

// last is the piece that ends the answer.
func (t *Turn) last() message.Chunk {
	c := message.Chunk{FinishReason: t.FinishReason, Metadata: fields(t.Metadata), Kwargs: fields(t.Kwargs)}
	if u := t.Usage; u != nil {
		c.Usage = &message.Usage{
			InputTokens: u.Input, OutputTokens: u.Output, TotalTokens: u.Total,
			CacheRead: u.CacheRead, CacheCreation: u.CacheCreation, Reasoning: u.Reasoning,
		}
	}
	return c
}

// fields are the members of an object; none for no value.
func fields(v Value) message.Fields {
	var f message.Fields
	if !v.IsZero() {
		_ = json.Unmarshal(v, &f) // an object, as was checked
	}
	return f
}
