// Package llmerror stands between the agent and a failing model. It tries again where that may help, waits as long as
// the provider asks, keeps a provider that is down from being asked over and over, goes on with another model where
// there is one, and in the end turns the failure into an answer that tells the user what happened and what to do.
//
// Which model answers a call is decided here alone (asking.go). Nothing of it belongs to a run: a model that failed
// rests for all runs, which then begin with the next one of their list, until a single call finds it well again.
//
// Failures are [model.Error]; any other error is not the model's and passes through, as does the end of the run's
// context.
package llmerror

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Config tunes the middleware. Its zero value is the usual behaviour.
type Config struct {
	// MaxAttempts bounds the tries of one call, the first included; 0 means 3.
	MaxAttempts int
	// BaseDelay and CapDelay are the least and the most wait between tries when the provider names none; 0 means 1 s
	// and 8 s.
	BaseDelay, CapDelay time.Duration
	// BurstBaseDelay is the least wait after a call was refused for a sudden rise of requests; 0 means 5 s.
	BurstBaseDelay time.Duration
	// First is the model of the run. Its Model is the request's, where there is one.
	First Candidate
	// Fallbacks are asked in their order when it fails.
	Fallbacks []Candidate
	// Limiter bounds the calls under way. It is shared by all runs of the process; nil means no bound.
	Limiter *modelcall.Limiter
	// Rand returns numbers in [0, 1) that spread the waits; nil means a random source.
	Rand func() float64
}

// Candidate is a model that can be asked, and what all calls of it share.
type Candidate struct {
	Model model.ChatModel
	Entry modelcall.Entry
	// Breaker keeps calls from the model while it is down; nil means none.
	Breaker *Breaker
	// Key is the limiter of the key that the model is called with; nil means no bound.
	Key *modelcall.Limiter
	// Observe is told of each try; nil is nobody.
	Observe modelcall.Observer
}

// name is the configured one, else the vendor's.
func (c *Candidate) name() string { return cmp.Or(c.Entry.Name, c.Model.Name()) }

// Middleware handles failures of model calls.
type Middleware struct {
	cfg     Config
	checked conversation.Checked // for fallbacks
}

var _ agent.ModelCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.MaxAttempts = cmp.Or(cfg.MaxAttempts, 3)
	cfg.BaseDelay = cmp.Or(cfg.BaseDelay, time.Second)
	cfg.CapDelay = cmp.Or(cfg.CapDelay, 8*time.Second)
	cfg.BurstBaseDelay = cmp.Or(cfg.BurstBaseDelay, 5*time.Second)
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "LLMErrorHandlingMiddleware" }

// WrapModelCall implements [agent.ModelCallWrapper].
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	req = m.withoutFallbacks(req)
	a := m.asking(req.Model, req.Runtime.Now)
	a.emit = func(raw json.RawMessage) { req.Runtime.Emit(agent.NodeModel, event.Custom{Value: raw}) }
	a.answered = answeredLast(req.Messages)
	var resp *agent.ModelResponse
	a.attempt = func(ctx context.Context, to *modelcall.Model) (err error) {
		asked := *req
		asked.Model = to
		if to.Instead {
			asked.Settings = to.Entry.Fit(req.Settings)
		}
		resp, err = next(ctx, &asked)
		return err
	}
	err := a.run(ctx)
	switch {
	case err == nil:
		return resp, nil
	case model.AsError(err) == nil || ctx.Err() != nil:
		return nil, err
	}
	return a.explain(), nil
}

// answeredLast is the name of the model that gave the last answer of the turn in the place of another; empty if none
// did.
func answeredLast(msgs []message.Message) string {
	for i := len(msgs) - 1; i >= 0 && !conversation.IsUser(msgs[i]); i-- {
		if msgs[i].Role == message.AI {
			return modelcall.AnsweredBy(&msgs[i], "")
		}
	}
	return ""
}

// withoutFallbacks drops the failure texts of earlier calls from the request: the model did not write them, and
// would take them for its own words.
func (m *Middleware) withoutFallbacks(req *agent.ModelRequest) *agent.ModelRequest {
	for i := m.checked.From(req.Messages); i < len(req.Messages); i++ {
		if m := &req.Messages[i]; m.Role != message.AI || m.Kwargs[message.KeyErrorFallback] == nil {
			continue
		} else if _, ok := FallbackOf(*m); !ok {
			continue
		}
		kept := append([]message.Message(nil), req.Messages[:i]...)
		for _, m := range req.Messages[i+1:] {
			if _, ok := FallbackOf(m); !ok {
				kept = append(kept, m)
			}
		}
		clean := *req
		clean.Messages = kept
		return &clean
	}
	m.checked.Pass(req.Messages)
	return req
}
