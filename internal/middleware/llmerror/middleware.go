// Package llmerror stands between the agent and a failing model. It tries again where that may help, waits as long as
// the provider asks, keeps a provider that is down from being asked over and over, and in the end turns the failure
// into an answer that tells the user what happened and what to do.
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
	"github.com/pudu-ai/pudu/internal/conversation"
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
	// Breaker keeps calls from a model that is down. It is shared by all runs of the model; nil means none.
	Breaker *Breaker
	// Limiter bounds the calls under way. It is shared by all runs of the process; nil means no bound.
	Limiter *Limiter
	// Rand returns numbers in [0, 1) that spread the waits; nil means a random source.
	Rand func() float64
}

// Limits of waiting and trying.
const (
	// longestWait is the longest wait that a provider may ask for; beyond it the call fails and says how long.
	longestWait = 60 * time.Second
	// burstAttempts bounds the tries after a burst refusal: more of them would make it worse.
	burstAttempts = 2
)

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
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest, next agent.ModelHandler) (*agent.ModelResponse, error) {
	req = m.withoutFallbacks(req)
	now := req.Runtime.Now
	pass, wait, ok := m.cfg.Breaker.enter(now())
	if !ok {
		return circuitOpen(req.Model.Name(), wait), nil
	}
	result := released
	defer func() { pass.leave(result, now()) }()

	resp, tries, err := m.call(ctx, req, next)
	failure := model.AsError(err)
	switch {
	case err == nil:
		result = succeeded
		return resp, nil
	case failure == nil || ctx.Err() != nil:
		return nil, err
	case failure.Retryable() && failure.Class != model.ClassBurst:
		result = failed
	}
	return fallback(req.Model.Name(), failure, tries), nil
}

// call tries until there is an answer or no try is left, and returns how many it took.
func (m *Middleware) call(ctx context.Context, req *agent.ModelRequest, next agent.ModelHandler) (*agent.ModelResponse, int, error) {
	wait := m.cfg.BaseDelay
	for try := 1; ; try++ {
		resp, err := m.attempt(ctx, req, next)
		failure := model.AsError(err)
		if failure == nil || ctx.Err() != nil {
			return resp, try, err
		}
		most := m.attempts(failure)
		if try >= most || failure.RetryAfter > longestWait {
			return nil, try, err
		}
		wait = m.delay(failure, wait)
		announce(req.Runtime, failure, try, most, wait)
		if err := sleep(ctx, wait); err != nil {
			return nil, try, err
		}
	}
}

// attempt makes one try. It holds a place of the limiter, which waiting between tries does not.
func (m *Middleware) attempt(ctx context.Context, req *agent.ModelRequest, next agent.ModelHandler) (*agent.ModelResponse, error) {
	if err := m.cfg.Limiter.acquire(ctx); err != nil {
		return nil, err
	}
	defer m.cfg.Limiter.release()
	return next(ctx, req)
}

// attempts is how many tries a call may take in all after the failure.
func (m *Middleware) attempts(failure *model.Error) int {
	switch {
	case !failure.Retryable():
		return 1
	case failure.Class == model.ClassBurst:
		return min(burstAttempts, m.cfg.MaxAttempts)
	}
	return m.cfg.MaxAttempts
}

// delay is what the provider asked for, else a random time between the base and three times the last wait, so that
// runs that failed together do not come back together.
func (m *Middleware) delay(failure *model.Error, last time.Duration) time.Duration {
	if failure.RetryAfter > 0 {
		return failure.RetryAfter
	}
	base := m.cfg.BaseDelay
	if failure.Class == model.ClassBurst {
		base = m.cfg.BurstBaseDelay
	}
	most := max(base, min(m.cfg.CapDelay, 3*max(base, last)))
	return base + time.Duration(m.cfg.Rand()*float64(most-base))
}

// retryEvent is the custom event that announces another try.
type retryEvent struct {
	Type        string `json:"type"`
	Attempt     int    `json:"attempt"` // the try that failed, from 1
	MaxAttempts int    `json:"max_attempts"`
	WaitMS      int64  `json:"wait_ms"`
	Reason      string `json:"reason"`
	Message     string `json:"message"`
}

func announce(rt *agent.Runtime, failure *model.Error, try, most int, wait time.Duration) {
	raw, err := json.Marshal(retryEvent{
		Type: "llm_retry", Attempt: try, MaxAttempts: most, WaitMS: wait.Milliseconds(),
		Reason: string(failure.Class), Message: retryText(failure.Class, try, most, wait),
	})
	if err == nil { // strings and numbers always encode
		rt.Emit(agent.NodeModel, event.Custom{Value: raw})
	}
}

// sleep waits, or returns the context's cause as soon as it is done.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
