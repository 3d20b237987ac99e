package summarization

import (
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// WrapModelCall implements [agent.ModelCallWrapper]: it lets no request through that the window cannot take, and sends
// one again, made shorter, that the provider found too long. The window is that of the model that is asked.
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	m = m.of(req.Model)
	c := &call{m: m, whole: req, req: req, next: next, meter: meterChannel.Get(req.State)}
	if m.active() {
		c.measure()
	}
	hard := m.cfg.hard()
	for most := hard; hard > 0 && c.total > hard; most = most * 8 / 10 {
		if most < hard/2 {
			return nil, c.tooLong(hard)
		}
		if err := c.shrink(ctx, most); err != nil {
			return nil, err
		}
	}
	resp, err := c.send(ctx)
	if e := model.AsError(err); e == nil || e.Class != model.ClassContextLength || ctx.Err() != nil {
		return resp, err
	}
	if c.total == 0 {
		c.measure()
	}
	if c.shrink(ctx, least(hard, max(c.total*6/10, 1))) != nil {
		return nil, err // the provider's own words say more
	}
	return c.send(ctx)
}

// of is the middleware for the model that is asked: another than that of the run has a window of its own.
func (m *Middleware) of(asked model.ChatModel) *Middleware {
	e, other := modelcall.Of(asked)
	if !other {
		return m
	}
	fit := *m
	fit.cfg.Window, fit.cfg.MaxAnswer = e.Window, e.MaxAnswer
	return &fit
}

// call is a model call on its way.
type call struct {
	m     *Middleware
	whole *agent.ModelRequest // as it came
	req   *agent.ModelRequest // as it is sent
	next  agent.ModelHandler
	meter meter
	raw   int          // our guess of what is sent behind what the meter has counted
	total int          // the size of the request in the provider's tokens; 0: not measured yet
	done  *outcome     // the compaction that was made for it
	spent state.Update // tells what summaries for it took
}

// measure finds out how large the request is.
func (c *call) measure() {
	c.meter.fix(c.req)
	raw, ok := c.meter.behind(c.req.Messages)
	if !ok {
		c.meter.recount(c.req.Messages)
	}
	c.raw, c.total = raw, c.meter.total(raw)
}

// shrink compacts the request to at most so many tokens.
func (c *call) shrink(ctx context.Context, most int) error {
	j := newJob(c.whole.State, c.m.cfg.Keep)
	j.meter, j.model = c.meter.whole(c.raw), c.whole.Model
	j.sent = c.whole.Messages
	j.goal, j.must = least(c.m.cfg.goal(), most*8/10), most
	out, err := c.m.do(ctx, j)
	c.spent = c.spent.With(out.spent.count(c.whole.Runtime))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case !out.fits || !out.changed:
		return c.tooLong(most)
	}
	shorter := *c.whole
	shorter.Messages = compaction.Project(&out.next, j.all, c.whole.Messages)
	c.req, c.done, c.meter = &shorter, out, out.meter
	c.meter.recount(shorter.Messages)
	c.raw, c.total = 0, c.meter.total(0)
	return nil
}

// tooLong is the failure of a request that is too long whatever is left out.
func (c *call) tooLong(most int) error {
	name := c.whole.Model.Name()
	return &model.Error{Class: model.ClassContextLength, Model: name, Message: fmt.Sprintf(
		"the request takes about %d tokens whatever is left out of the conversation, and %d are left for it in the "+
			"window of %s: "+
			"choose a model with a larger window, or correct its context_window in the configuration", c.total, most,
		name)}
}

// send makes the call and puts into its answer what is to be remembered.
func (c *call) send(ctx context.Context) (*agent.ModelResponse, error) {
	resp, err := c.next(ctx, c.req)
	if err != nil {
		return nil, err
	}
	answered := *resp
	answered.Update = answered.Update.With(c.spent)
	if c.done != nil {
		answered.Update = answered.Update.With(c.done.update())
	}
	if c.total > 0 && resp.Message.ID != "" {
		c.meter.answered(c.meter.Raw+c.raw, &resp.Message)
		answered.Update = answered.Update.With(meterChannel.Put(c.meter))
	}
	return &answered, nil
}
