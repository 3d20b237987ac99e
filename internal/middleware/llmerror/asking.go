package llmerror

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/model"
)

// Limits of waiting and trying.
const (
	// longestWait is the longest wait that a provider may ask for; beyond it the call fails and says how long.
	longestWait = 60 * time.Second
	// shortWait is the same where another model can be asked: its answer is there sooner.
	shortWait = 10 * time.Second
	// longestRest bounds how long a model is passed by because its provider says so.
	longestRest = 10 * time.Minute
	// burstAttempts bounds the tries after a burst refusal: more of them would make it worse.
	burstAttempts = 2
	// queuedAttempts bounds the tries of a call that others with the same key have crowded out. Its key has limits set,
	// so that it is to queue and not to fail, and it keeps its place in the queue.
	queuedAttempts = 20
)

// asking is one call on its way from model to model.
type asking struct {
	m    *Middleware
	list []Candidate
	now  func() time.Time
	// attempt makes one try.
	attempt func(ctx context.Context, to *modelcall.Model) error
	// emit shows a custom event; nil shows nothing.
	emit func(json.RawMessage)
	// answered is the model that answered last in the place of another: nobody needs to be told again that it does.
	answered string
	// shown is set by attempt when something of an answer is out that cannot be taken back.
	shown bool

	failed []*failed // by place in the list; nil if it has not failed
	left   []string  // what is the matter with the models that were left since the last announcement
	from   string    // the last of them
	why    model.Class
}

// failed is what became of a model in the end.
type failed struct {
	err   *model.Error
	tries int
}

// asking prepares a call of the model or, where that is nil, of the first one.
func (m *Middleware) asking(own model.ChatModel, now func() time.Time) *asking {
	list := append([]Candidate{m.cfg.First}, m.cfg.Fallbacks...)
	if own != nil {
		list[0].Model = own
	}
	return &asking{m: m, list: list, now: now, failed: make([]*failed, len(list))}
}

// verdict is how it goes on after a model.
type verdict int

const (
	ended verdict = iota // there is an answer, or another model would not give one either
	next                 // the next model is asked
	later                // and then this one once more, since it has not had all of its tries
)

// run asks one model after the other until there is an answer. Those that rest, and those that would have kept the call
// waiting, are asked once more at the end: better a late answer than none. The error is that of the first model.
func (a *asking) run(ctx context.Context) error {
	var again []int
	for i := range a.list {
		p, closed := a.list[i].Breaker.enter(a.now(), len(a.list) > 1)
		if closed != nil {
			if a.pass(i, closed) {
				again = append(again, i)
			}
			continue
		}
		switch v, err := a.ask(ctx, i, p, i < len(a.list)-1); v {
		case ended:
			return err
		case later:
			again = append(again, i)
		}
	}
	for _, i := range again {
		p, closed := a.list[i].Breaker.enter(a.now(), false)
		if closed != nil {
			a.pass(i, closed)
			continue
		}
		if v, err := a.ask(ctx, i, p, false); v == ended {
			return err
		}
	}
	at := slices.IndexFunc(a.failed, func(f *failed) bool { return f != nil })
	return a.failed[at].err
}

// pass goes by a model that cannot be asked now, and reports whether it can be later.
func (a *asking) pass(i int, s *shut) bool {
	if s.resting != "" {
		a.leave(i, s.resting)
		return true
	}
	name := a.list[i].Model.Name()
	a.failed[i] = &failed{err: &model.Error{Class: ReasonCircuitOpen, Model: name, Message: circuitText(name, s.wait)}}
	a.leave(i, ReasonCircuitOpen)
	return false
}

// leave remembers why a model is not the one that answers.
func (a *asking) leave(i int, why model.Class) {
	a.from, a.why = a.list[i].name(), why
	a.left = append(a.left, troubleOf(a.from, why))
}

// ask makes the tries of one model. more says that there are others behind it.
func (a *asking) ask(ctx context.Context, i int, p pass, more bool) (verdict, error) {
	result := released
	defer func() { p.leave(result, a.now()) }()
	c := &a.list[i]
	a.announceFallback(c)
	early, err := a.try(ctx, i, p.probe, more)
	failure := model.AsError(err)
	switch {
	case err == nil:
		result = succeeded
		return ended, nil
	case failure == nil || ctx.Err() != nil || a.shown:
		return ended, err
	case failure.Retryable() && failure.Class != model.ClassBurst:
		result = unwell
	}
	fault := failure.Class == model.ClassBadRequest || failure.Class == model.ClassContextLength
	if !fault {
		p.rest(failure.Class, a.now(), min(failure.RetryAfter, longestRest))
	}
	a.leave(i, failure.Class)
	switch {
	case fault && i == 0: // the request is at fault, and whoever made it should hear of it
		return ended, err
	case early:
		return later, nil
	}
	return next, nil
}

// try makes the tries of a model until there is an answer or none is left. early says that more could be made, and that
// it is better to ask another model first.
func (a *asking) try(ctx context.Context, i int, probe, more bool) (early bool, err error) {
	c := &a.list[i]
	to := &modelcall.Model{
		ChatModel: c.Model, Entry: c.Entry, Instead: i > 0, Key: c.Key, All: a.m.cfg.Limiter, Queued: a.queued(c),
		Observe: c.Observe,
	}
	wait, patience := a.m.cfg.BaseDelay, longestWait
	if more {
		patience = shortWait
	}
	for try := 1; ; try++ {
		err := a.attempt(ctx, to)
		failure := model.AsError(err)
		if failure == nil || ctx.Err() != nil || a.shown {
			return false, err
		}
		a.failed[i] = &failed{failure, try}
		most := a.m.attempts(failure, !more && c.Key.Limited())
		if try >= most || failure.RetryAfter > longestWait {
			return false, err
		}
		if more && probe || failure.RetryAfter > patience {
			return true, err
		}
		wait = a.m.delay(failure, wait)
		a.announceRetry(failure, try, most, wait)
		if err := sleep(ctx, wait); err != nil {
			return false, err
		}
	}
}

// attempts is how many tries a call may take in all after the failure.
func (m *Middleware) attempts(failure *model.Error, queues bool) int {
	switch {
	case !failure.Retryable():
		return 1
	case failure.Class == model.ClassBurst:
		return min(burstAttempts, m.cfg.MaxAttempts)
	case failure.Class == model.ClassRateLimit && queues:
		return max(queuedAttempts, m.cfg.MaxAttempts)
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
