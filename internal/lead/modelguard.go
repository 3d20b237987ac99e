package lead

import (
	"context"
	"sync"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/model"
)

// ModelGuard is what all calls of one model share: its circuit breaker, the limiter of its key, the bound on the calls
// of the process, and who is told of them.
type ModelGuard struct {
	breaker *llmerror.Breaker
	key     *modelcall.Limiter
	limiter *modelcall.Limiter
	all     *ModelGuards // nil in a guard that was not made
}

// CallObserver is told of each call of a model, with the model's configuration.
type CallObserver func(ctx context.Context, m config.Model, c modelcall.Call)

// ModelGuards makes the guards of a process's models. It may be used by many goroutines.
type ModelGuards struct {
	cfg     *config.Config
	all     *modelcall.Limiter
	observe CallObserver

	mu   sync.Mutex
	keys []keyLimiter
}

// keyLimiter is the limiter of the models that share a key with model.
type keyLimiter struct {
	model   config.Model
	limiter *modelcall.Limiter
}

// NewModelGuards makes the guards for a configuration. observe may be nil.
func NewModelGuards(cfg *config.Config, observe CallObserver) *ModelGuards {
	return &ModelGuards{cfg: cfg, all: modelcall.NewBound(cfg.LLMCall.MaxConcurrentCalls), observe: observe}
}

// Of makes the guard of a model. It is made once for each model; models with one key share its limiter.
func (g *ModelGuards) Of(m config.Model) ModelGuard {
	return ModelGuard{
		breaker: llmerror.NewBreaker(llmerror.BreakerConfig{
			Threshold: g.cfg.CircuitBreaker.FailureThreshold, Recovery: g.cfg.CircuitBreaker.RecoveryTimeout,
		}),
		key: g.limiterOf(m), limiter: g.all, all: g,
	}
}

// observer is who is told of the calls of a model.
func (g *ModelGuards) observer(m config.Model) modelcall.Observer {
	if g == nil || g.observe == nil {
		return nil
	}
	return func(ctx context.Context, c modelcall.Call) { g.observe(ctx, m, c) }
}

func (g *ModelGuards) limiterOf(m config.Model) *modelcall.Limiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range g.keys {
		if k.model.SharesKey(m) {
			return k.limiter
		}
	}
	l := g.cfg.RateLimitOf(m)
	limiter := modelcall.NewLimiter(modelcall.Limits{
		RequestsPerMinute: l.RequestsPerMinute, TokensPerMinute: l.TokensPerMinute, Concurrent: l.Concurrent,
	})
	g.keys = append(g.keys, keyLimiter{m, limiter})
	return limiter
}

// NewModelGuard makes the guard of a model that shares nothing with others.
func NewModelGuard(call config.LLMCall, breaker config.CircuitBreaker) ModelGuard {
	return NewModelGuards(&config.Config{LLMCall: call, CircuitBreaker: breaker}, nil).Of(config.Model{})
}

// Candidate is a model that may be asked, with its configuration.
type Candidate struct {
	Model model.ChatModel
	Entry config.Model
	Guard ModelGuard
}

func (m *Candidate) candidate() llmerror.Candidate {
	e := m.Entry
	return llmerror.Candidate{
		Model: m.Model, Breaker: m.Guard.breaker, Key: m.Guard.key, Observe: m.Guard.all.observer(e),
		Entry: modelcall.Entry{
			Name: e.Name, Window: e.ContextWindow, MaxAnswer: e.MaxTokens,
			Vision: e.SupportsVision, Thinking: e.SupportsThinking, Effort: e.SupportsReasoningEffort,
		},
	}
}

// Aside returns the first of the models for calls beside a conversation, such as that for a title. They are guarded as
// the runs' own calls are.
func Aside(call config.LLMCall, first Candidate, others []Candidate) model.ChatModel {
	return llmerror.Aside(callsOf(call, first, others))
}

func callsOf(call config.LLMCall, first Candidate, others []Candidate) llmerror.Config {
	calls := llmerror.Config{
		MaxAttempts: call.RetryMaxAttempts, BaseDelay: call.RetryBaseDelay, CapDelay: call.RetryCapDelay,
		BurstBaseDelay: call.BurstRetryBaseDelay, Limiter: first.Guard.limiter, First: first.candidate(),
	}
	for i := range others {
		calls.Fallbacks = append(calls.Fallbacks, others[i].candidate())
	}
	return calls
}

// calls is how the model calls of a run are made.
func (c *Config) calls() llmerror.Config {
	return callsOf(c.Settings.LLMCall, c.Models.Main, c.Models.Fallbacks)
}

// beside is the run's model for calls beside its own; nil where there is no model, as when only the chain's shape is
// asked for.
func (c *Config) beside() model.ChatModel {
	if c.Models.Main.Model == nil {
		return nil
	}
	return llmerror.Aside(c.calls())
}
