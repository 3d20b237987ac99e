package scripted

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// defaultChunk is how many characters a piece of text has if the turn does not say.
const defaultChunk = 16

// Turn is one answer. The zero value is an empty answer.
type Turn struct {
	Text, Reasoning string
	ToolCalls       []Call
	// Delay comes before the first piece, ChunkDelay before each further one.
	Delay, ChunkDelay time.Duration
	// ChunkSize is the characters of a piece; 0 means 16.
	ChunkSize int
	// Usage is reported at the end; nil reports an estimate of four bytes per token.
	Usage *message.Usage
	// FinishReason; empty means "tool_calls" or "stop".
	FinishReason string
	// Error, if set, ends the answer after what comes before it.
	Error *Error
}

// Call is a tool call of a turn.
type Call struct {
	// ID; empty makes one from the place in the conversation, the same each time.
	ID   string
	Name string
	// Args are sent as they are; they need not be valid.
	Args string
}

// Error is a failure that a turn plays.
type Error struct {
	Class      model.Class // empty means transient
	Status     int
	Code       string
	Message    string
	RetryAfter time.Duration
}

// player streams turns.
type player struct {
	name  string
	sleep func(context.Context, time.Duration) error
}

func newPlayer(name string, sleep func(context.Context, time.Duration) error) player {
	if sleep == nil {
		sleep = wait
	}
	return player{name: name, sleep: sleep}
}

// wait sleeps unless ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// play yields a turn piece by piece.
func (p *player) play(ctx context.Context, req *model.Request, turn Turn, yield func(message.Chunk, error) bool) {
	delay := turn.Delay
	for _, c := range p.chunks(req, &turn) {
		if err := p.sleep(ctx, delay); err != nil {
			yield(message.Chunk{}, err)
			return
		}
		if !yield(c, nil) {
			return
		}
		delay = turn.ChunkDelay
	}
	if turn.Error == nil {
		return
	}
	if err := p.sleep(ctx, delay); err != nil {
		yield(message.Chunk{}, err)
		return
	}
	yield(message.Chunk{}, p.failure(turn.Error))
}

func (p *player) failure(e *Error) error {
	out := &model.Error{Class: e.Class, Provider: provider, Model: p.name, Status: e.Status, Code: e.Code,
		Message: e.Message, RetryAfter: e.RetryAfter}
	out.Class = cmp.Or(out.Class, model.ClassTransient)
	if out.Message == "" {
		out.Message = "the script fails here"
	}
	return out
}

// chunks cuts a turn into pieces; the last one ends the message, unless the turn fails.
func (p *player) chunks(req *model.Request, turn *Turn) []message.Chunk {
	at := answers(req.Messages)
	size := turn.ChunkSize
	if size <= 0 {
		size = defaultChunk
	}
	var out []message.Chunk
	for _, s := range split(turn.Reasoning, size) {
		out = append(out, message.Chunk{Reasoning: s})
	}
	for _, s := range split(turn.Text, size) {
		out = append(out, message.Chunk{Text: s})
	}
	for i, call := range turn.ToolCalls {
		id := or(call.ID, fmt.Sprintf("call_%d_%d", at, i))
		out = append(out, message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: i, ID: id, Name: call.Name}}})
		for _, s := range split(call.Args, size) {
			out = append(out, message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: i, Args: s}}})
		}
	}
	if turn.Error == nil {
		out = append(out, p.last(req, turn, at))
	}
	return out
}

func (p *player) last(req *model.Request, turn *Turn, at int) message.Chunk {
	reason := turn.FinishReason
	if reason == "" {
		reason = "stop"
		if len(turn.ToolCalls) > 0 {
			reason = "tool_calls"
		}
	}
	usage := turn.Usage
	if usage == nil {
		usage = estimate(req, turn)
	}
	return message.Chunk{FinishReason: reason, Usage: usage, Metadata: message.Fields{
		"model_name": quote(p.name), "model_provider": quote(provider), "id": quote(fmt.Sprintf("scripted-%d", at))}}
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string cannot fail
	return b
}

// split cuts a text every size characters.
func split(s string, size int) []string {
	var out []string
	n, start := 0, 0
	for i := range s {
		if n == size {
			out = append(out, s[start:i])
			n, start = 0, i
		}
		n++
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// estimate counts a token per four bytes, so that budgets have something to count.
func estimate(req *model.Request, turn *Turn) *message.Usage {
	in := len(req.System)
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		in += len(m.Text())
		for _, c := range m.ToolCalls {
			in += len(c.Name) + len(c.Args)
		}
	}
	out := len(turn.Text) + len(turn.Reasoning)
	for _, c := range turn.ToolCalls {
		out += len(c.Name) + len(c.Args)
	}
	u := message.Usage{InputTokens: (in + 3) / 4, OutputTokens: (out + 3) / 4, Reasoning: len(turn.Reasoning) / 4}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return &u
}

// answers is the number of AI messages.
func answers(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		if msgs[i].Role == message.AI {
			n++
		}
	}
	return n
}
