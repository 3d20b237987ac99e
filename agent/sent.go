package agent

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// Bounds of what is noted of a call: its tries, and the bytes of why one came to nothing.
const (
	mostTries = 64
	mostWhy   = 300
)

// Sent is what a model was given in the last try of a call.
type Sent struct {
	// Model is the configured name of the model, or its own where it has none.
	Model, Provider string
	Request         *model.Request
	// State is what the request was made of, Messages is its conversation, and Usual that of [ModelRequest].
	State           state.State
	Messages, Usual []message.Message
}

// tries are those of one call. The innermost handler notes them, for the loop.
type tries struct {
	list []event.Try
	last Sent
}

// begin notes that a model is asked.
func (t *tries) begin(req *ModelRequest, call *model.Request) {
	name, sent := modelcall.Sent(req.Model, call)
	t.last = Sent{
		Model: name, Provider: req.Model.Name(), Request: sent,
		State: req.State, Messages: Messages.Get(req.State), Usual: req.Usual,
	}
	try := event.Try{Model: name, Began: req.Runtime.Now().UnixMilli()}
	if len(t.list) == mostTries { // the first ones tell how it began, the last how it ends
		t.list = append(t.list[:mostTries/2], t.list[mostTries/2+1:]...)
	}
	t.list = append(t.list, try)
}

// piece notes that the first piece of an answer is there.
func (t *tries) piece(now func() time.Time) {
	if try := &t.list[len(t.list)-1]; try.First == 0 {
		try.First = max(now().UnixMilli()-try.Began, 1)
	}
}

// end notes that the answer is whole, or why it is not.
func (t *tries) end(now time.Time, err error) {
	try := &t.list[len(t.list)-1]
	try.Took = max(now.UnixMilli()-try.Began, try.First)
	if err == nil {
		return
	}
	try.Error = excerpt.Bound(err.Error(), mostWhy)
	if e := model.AsError(err); e != nil {
		try.Class = string(e.Class)
	}
}

// noteCall is what is kept of a call that is over; nil if nothing is, or no model was asked.
func (r *run) noteCall(ctx context.Context, t *tries) *event.Call {
	if r.rt.Sent == nil || len(t.list) == 0 {
		return nil
	}
	n := len(t.list) - 1
	c := &event.Call{Try: t.list[n], Before: t.list[:n], Sent: r.rt.Sent(ctx, &t.last)}
	for i := range c.Before {
		if c.Before[i].Model == c.Model {
			c.Before[i].Model = ""
		}
	}
	c.Model = "" // which Sent tells
	return c
}

// tellCall has a call that no [event.Message] tells of stand by itself.
func (r *run) tellCall(c *event.Call, messageID string) {
	if c != nil {
		c.MessageID = messageID
		r.events = append(r.events, Emitted{NodeModel, *c})
	}
}
