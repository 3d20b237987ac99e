package llmerror

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"pgregory.net/rapid"
)

// one makes a call that ends as given and reports whether it was let pass.
func one(b *Breaker, now time.Time, o outcome) bool {
	p, closed := b.enter(now, false)
	p.leave(o, now)
	return closed == nil
}

func opened(t interface{ Fatal(...any) }, now time.Time) *Breaker {
	b := NewBreaker(BreakerConfig{})
	for range 5 {
		if !one(b, now, unwell) {
			t.Fatal("open too early")
		}
	}
	if one(b, now, unwell) {
		t.Fatal("still closed after five failures")
	}
	return b
}

func TestBreakerOpensOnFailuresInARow(t *testing.T) {
	b, now := NewBreaker(BreakerConfig{Threshold: 3}), time.Now()
	for i, o := range []outcome{unwell, unwell, succeeded, unwell, released, unwell, released} {
		if !one(b, now, o) {
			t.Fatalf("open before call %d", i)
		}
	}
	one(b, now, unwell)
	if one(b, now, succeeded) {
		t.Fatal("closed after three failures in a row")
	}
}

func TestBreakerProbe(t *testing.T) {
	start := time.Now()
	later := start.Add(time.Minute)
	tests := []struct {
		name      string
		probe     outcome
		passAfter bool
	}{
		{"success closes", succeeded, true},
		{"failure opens again", unwell, false},
		{"cancel or a fault of the request leaves the place to the next", released, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := opened(t, start)
			if _, closed := b.enter(later.Add(-time.Second), false); closed == nil || closed.wait != time.Second {
				t.Fatalf("closed: %+v", closed)
			}
			p, closed := b.enter(later, false)
			if _, second := b.enter(later, false); closed != nil || second == nil {
				t.Fatal("want one probe and no second")
			}
			p.leave(tt.probe, later)
			if got := one(b, later, released); got != tt.passAfter {
				t.Fatalf("next call passes: %v", got)
			}
			for range 2 {
				if !one(b, later.Add(time.Minute), succeeded) {
					t.Fatal("never closes again")
				}
			}
		})
	}
}

func TestCallOfAnotherPeriodDecidesNothing(t *testing.T) {
	now := time.Now()
	b := NewBreaker(BreakerConfig{Threshold: 1})
	early, _ := b.enter(now, false)
	one(b, now, unwell)
	early.leave(succeeded, now)
	if one(b, now, released) {
		t.Fatal("an old call closed the breaker")
	}
}

// TestBreakerNeverSticks: whatever happened, once all calls are back and time has passed, a call passes.
func TestBreakerNeverSticks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, now := NewBreaker(BreakerConfig{Threshold: 2}), time.Unix(0, 0)
		var under []pass
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 70).Draw(t, "s")) * time.Second)
			if p, closed := b.enter(now, rapid.Bool().Draw(t, "choice")); closed == nil {
				if rapid.Bool().Draw(t, "rests") {
					p.rest(model.ClassBusy, now, 0)
				}
				under = append(under, p)
			}
			if len(under) > 0 && rapid.Bool().Draw(t, "leave") {
				under[0].leave(outcome(rapid.IntRange(0, 2).Draw(t, "outcome")), now)
				under = under[1:]
			}
		}
		for _, p := range under {
			p.leave(released, now)
		}
		if _, closed := b.enter(now.Add(time.Minute), true); closed != nil {
			t.Fatalf("stuck: %+v", closed)
		}
	})
}

func TestBreakerIsSafeForManyRuns(t *testing.T) {
	b, now := NewBreaker(BreakerConfig{Threshold: 50, Recovery: time.Nanosecond}), time.Now()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() { one(b, now.Add(time.Duration(i)), outcome(i%3)) })
	}
	wg.Wait()
	if !one(b, now.Add(time.Hour), succeeded) {
		t.Fatal("stuck")
	}
}

// TestCircuitOpensAcrossRuns: a failed call ends its run, so a count that is kept per run would never get there.
func TestCircuitOpensAcrossRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		breaker := NewBreaker(BreakerConfig{})
		for i := range 5 {
			b := newBench(t, Config{First: Candidate{Breaker: breaker}}, turn{err: modelError(model.ClassTransient)})
			if _, err := b.run(t.Context(), state.State{}); err != nil || b.model.calls() != 3 {
				t.Fatalf("run %d: %d calls, error %v", i, b.model.calls(), err)
			}
		}
		b := newBench(t, Config{First: Candidate{Breaker: breaker}}, turn{text: "well again"})
		s, err := b.run(t.Context(), state.State{})
		m := last(s)
		if reason, _ := FallbackOf(m); err != nil || reason != ReasonCircuitOpen || b.model.calls() != 0 ||
			!strings.Contains(m.Text(), "60 s") {
			t.Fatalf("reason %q, error %v, %d calls, answer %q", reason, err, b.model.calls(), m.Text())
		}
		time.Sleep(time.Minute)
		if s, err = b.run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if m := last(s); m.Text() != "well again" {
			t.Fatalf("answer %q", m.Text())
		}
	})
}

func TestBurstAndFaultyRequestsDoNotOpenTheCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		breaker := NewBreaker(BreakerConfig{Threshold: 1})
		for _, c := range []model.Class{model.ClassBurst, model.ClassAuth, model.ClassBadRequest} {
			b := newBench(t, Config{First: Candidate{Breaker: breaker}}, turn{err: modelError(c)})
			if _, err := b.run(t.Context(), state.State{}); err != nil || b.model.calls() == 0 {
				t.Fatalf("%s: %d calls, error %v", c, b.model.calls(), err)
			}
		}
	})
}

func TestCancelledProbeFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		breaker := NewBreaker(BreakerConfig{Threshold: 1})
		fail := newBench(t, Config{First: Candidate{Breaker: breaker}, MaxAttempts: 1},
			turn{err: modelError(model.ClassBusy)})
		if _, err := fail.run(t.Context(), state.State{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := newBench(t, Config{First: Candidate{Breaker: breaker}}, turn{hang: true}).
			run(ctx, state.State{}); err == nil {
			t.Fatal("want the context's error")
		}
		b := newBench(t, Config{First: Candidate{Breaker: breaker}}, turn{text: "up"})
		if s, err := b.run(t.Context(), state.State{}); err != nil || !is(last(s), "up") {
			t.Fatalf("the probe's place was lost: %v", err)
		}
	})
}

func is(m message.Message, text string) bool { return m.Text() == text }
