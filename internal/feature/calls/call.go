package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Call is one call of a model, for people: what it was sent, what came back, and how it went.
type Call struct {
	ThreadID string `json:"thread_id"`
	RunID    string `json:"run_id"`
	// N counts the calls of the run, from 1, and Of is how many there are so far.
	N  int `json:"n"`
	Of int `json:"of"`

	Made

	// Window is the size of the model's window in tokens; 0 is unknown.
	Window  int     `json:"context_window"`
	Request Request `json:"request"`
	// Parts are what the request is made of, with a guess of the tokens of each.
	Parts []Part `json:"parts"`
	// New is what is new since the run's call before.
	New Fresh `json:"new"`
	// Answer is the message that the call gave; null if there is none.
	Answer json.RawMessage `json:"answer"`
}

// Made says how a call went.
type Made struct {
	Model    string    `json:"model"`
	Provider string    `json:"provider"`
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended"`
	// FirstMS is the time until the first piece of the answer, TookMS that until its end, both of the last try; 0 if
	// none came.
	FirstMS int64  `json:"first_ms"`
	TookMS  int64  `json:"took_ms"`
	Error   string `json:"error,omitempty"`
	// Tries are all of them, the last one too.
	Tries        []Try    `json:"tries"`
	Usage        *Usage   `json:"usage"`
	Cost         *Cost    `json:"cost"`
	FinishReason string   `json:"finish_reason,omitempty"`
	MessageID    string   `json:"message_id,omitempty"`
	ToolCalls    []string `json:"tool_calls"`
}

// Try is one try of a call.
type Try struct {
	Model   string    `json:"model"`
	Began   time.Time `json:"began"`
	FirstMS int64     `json:"first_ms"`
	TookMS  int64     `json:"took_ms"`
	// WaitMS is how long it was waited for the next one.
	WaitMS int64  `json:"wait_ms"`
	Class  string `json:"class,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Usage counts the tokens of a call, as the provider told them.
type Usage struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	Cached        int `json:"cached_tokens"`
	CacheCreation int `json:"cache_creation_tokens"`
	Reasoning     int `json:"reasoning_tokens"`
	// CachedShare is the part of the input that came from the provider's cache, 0 to 1.
	CachedShare float64 `json:"cached_share"`
}

// Cost is what a call, or a run, cost.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// Request is what the model was given.
type Request struct {
	// Exact says that this is what was sent, to the byte. Without it Note says what is missing.
	Exact    bool              `json:"exact"`
	Note     string            `json:"note,omitempty"`
	System   string            `json:"system"`
	Tools    []Tool            `json:"tools"`
	Settings settingsForm      `json:"settings"`
	Messages []json.RawMessage `json:"messages"`
}

// Part is a part of a request: system, tools, history, results, images.
type Part struct {
	Name   string `json:"part"`
	Count  int    `json:"count"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
}

// Fresh is what a call was sent beyond the one before.
type Fresh struct {
	// Since is the number of that call; 0 if there is none, or it cannot be read.
	Since int `json:"since"`
	// Kept is how many messages the two requests have in common at their beginning; those behind are new.
	Kept   int `json:"kept"`
	Tokens int `json:"tokens"` // of the new ones, as a guess
	// System and Tools say that these differ.
	System bool `json:"system"`
	Tools  bool `json:"tools"`
}

// Call returns the run's call with a number. [store.ErrNotFound] if the thread has no such run, or that no such call.
func (m *Mine) Call(ctx context.Context, thread, run string, n int) (Call, error) {
	c, err := m.call(ctx, thread, run, n)
	if err != nil {
		return Call{}, fmt.Errorf("look at call %d of run %.40q: %w", n, run, err)
	}
	return c, nil
}

// found is a call, the one before, the messages that records have, and how many calls there are.
type found struct {
	this, before *record
	inlined      map[string]json.RawMessage
	size         int
}

func (m *Mine) call(ctx context.Context, thread, runID string, n int) (c Call, err error) {
	run, err := m.run(ctx, thread, runID)
	if err != nil {
		return c, err
	}
	f, s := found{inlined: make(map[string]json.RawMessage)}, scan{m: m, run: run}
	err = s.each(ctx, func(ev *event.Event) (bool, error) {
		if r := s.call(ev); r != nil {
			f.take(r, n)
		}
		return true, nil
	})
	if err == nil && f.this == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return c, err
	}
	c = Call{ThreadID: thread, RunID: runID, N: n, Of: s.calls, Answer: json.RawMessage("null")}
	if answer := f.this.answer(); answer != nil {
		c.Answer = answer
	}
	return c, m.show(ctx, run, &f, &c)
}

// take looks at a record on the way to the one that is wanted.
func (f *found) take(r *record, n int) {
	switch r.n {
	case n - 1:
		f.before = r
	case n:
		f.this = r
	}
	d, err := parse(r.Sent)
	if err != nil || r.n > n {
		return
	}
	for _, p := range d.pieces {
		if f.size += len(p.own); p.own != nil && f.size < maxInlined {
			f.inlined[nameOf(p.own)] = p.own
		}
	}
}

// run is a run of the thread.
func (m *Mine) run(ctx context.Context, thread, id string) (store.Run, error) {
	run, err := m.data.Run(ctx, id)
	if err == nil && run.ThreadID != thread {
		err = store.ErrNotFound
	}
	return run, err
}

// show fills in what there is to see of a call.
func (m *Mine) show(ctx context.Context, run store.Run, f *found, c *Call) error {
	c.Request = Request{Tools: []Tool{}, Messages: []json.RawMessage{}}
	c.Parts = []Part{}
	if f.this.Sent == nil {
		c.Made, c.Request.Note = m.made(f.this, frame{}), "this call was made before Pudu kept what calls are sent"
		return nil
	}
	req, err := m.rebuild(ctx, run, f.this, f.inlined)
	if err != nil {
		return err
	}
	c.Made, c.Window = m.made(f.this, req.frame), m.all.cfg.Window(req.frame.Model)
	if err := c.Request.fill(&req); err != nil {
		return err
	}
	c.Parts = partsOf(&req)
	if f.before == nil || f.before.Sent == nil {
		c.New.Tokens = tokens.Messages(req.messages)
		return nil
	}
	before, err := m.rebuild(ctx, run, f.before, f.inlined)
	if err != nil {
		return err
	}
	c.New = since(c.N-1, &before, &req)
	return nil
}

func (r *Request) fill(req *rebuilt) error {
	r.System, r.Settings = req.frame.System, settingsForm(req.frame.Settings)
	for i := range req.messages {
		raw, err := req.messages[i].AppendJSON(nil)
		if err != nil {
			return fmt.Errorf("encode a message: %w", err)
		}
		r.Messages = append(r.Messages, raw)
	}
	for _, t := range req.frame.Tools {
		r.Tools = append(r.Tools, Tool(t))
	}
	var notes []string
	if !req.hasFrame {
		notes = append(notes, "the system prompt and the tools are not kept any more")
	}
	if !req.whole {
		notes = append(notes,
			"the messages are not quite those that were sent: one was too large to be kept, or this Pudu prepares "+
				"them otherwise")
	}
	if omitted(req.messages) {
		notes = append(notes,
			"images are named by their sums: what is shown to a model beside the conversation is not kept twice")
	}
	r.Note = strings.Join(notes, "; ")
	r.Exact = r.Note == ""
	return nil
}

func omitted(msgs []message.Message) bool {
	for i := range msgs {
		for _, p := range msgs[i].Content {
			if strings.HasPrefix(p.URL, omittedURL) {
				return true
			}
		}
	}
	return false
}

// since compares a request with the one before.
func since(n int, before, req *rebuilt) Fresh {
	out := Fresh{Since: n, System: before.frame.System != req.frame.System, Tools: !sameTools(before, req)}
	for out.Kept < len(before.messages) && out.Kept < len(req.messages) &&
		equal(&before.messages[out.Kept], &req.messages[out.Kept]) {
		out.Kept++
	}
	out.Tokens = tokens.Messages(req.messages[out.Kept:])
	return out
}

func sameTools(a, b *rebuilt) bool {
	x, errX := toolsForm(a.frame.Tools)
	y, errY := toolsForm(b.frame.Tools)
	return errors.Join(errX, errY) == nil && string(x) == string(y)
}
