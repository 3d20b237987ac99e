package modelcall

import (
	"context"

	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// pass is a call on its way through both limiters. It keeps count of what the call takes.
type pass struct {
	key, all *permit
	guess    int // the tokens of the request
	bytes    int // of the answer so far
	reported int // tokens of both, by the vendor
	heard    bool
}

// enter waits for the turn of the call: for its key first, so that who waits for a slow one takes no place of the
// others.
func (m *Model) enter(ctx context.Context, req *model.Request) (*pass, error) {
	p := &pass{}
	if m.Key.counts() {
		p.guess = tokens.Request(req.System, req.Tools, req.Messages)
	}
	var err error
	if p.key, err = m.Key.acquire(ctx, &m.ticket, m.Name(), p.guess, m.queued); err != nil {
		return nil, err
	}
	var last ticket // the process's bound has an order of its own
	if p.all, err = m.All.acquire(ctx, &last, "", 0, m.queued); err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

func (m *Model) queued(ahead int) {
	if m.Queued != nil && !m.told {
		m.told = true
		m.Queued(ahead)
	}
}

// see looks at a piece of the answer.
func (p *pass) see(c *message.Chunk, err error) {
	if e := model.AsError(err); e != nil && (e.Class == model.ClassRateLimit || e.Class == model.ClassBurst) {
		p.key.refused(e.RetryAfter)
	}
	if err != nil {
		return
	}
	if !p.heard {
		p.heard = true
		p.key.accepted()
	}
	p.bytes += len(c.Text) + len(c.Reasoning)
	for i := range c.ToolCalls {
		p.bytes += len(c.ToolCalls[i].Args)
	}
	if u := c.Usage; u != nil {
		p.reported = max(p.reported, u.TotalTokens, u.InputTokens+u.OutputTokens)
	}
}

// leave ends the call. A request that was refused took no tokens; an answer that was cut took what it had come to.
func (p *pass) leave() {
	took := p.reported
	if took == 0 && p.heard {
		took = p.guess + p.bytes/4
	}
	p.all.done(0)
	p.key.done(took)
}

// estimate is what the call took by our own guess, if the vendor does not say: so budgets, limits and the user see
// something that is about right.
func (p *pass) estimate(req *model.Request) (message.Chunk, bool) {
	if p.reported > 0 || !p.heard {
		return message.Chunk{}, false
	}
	in, out := tokens.Request(req.System, req.Tools, req.Messages), max(p.bytes/4, 1)
	u := message.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out}
	return message.Chunk{Usage: &u, Metadata: message.Fields{KeyEstimated: []byte("true")}}, true
}
