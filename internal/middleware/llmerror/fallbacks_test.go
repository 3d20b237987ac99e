package llmerror

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// candidate is a model of a list, with a breaker and a limiter of its own.
func candidate(name string, turns ...turn) (*fakeModel, Candidate) {
	f := &fakeModel{turns: turns}
	return f, Candidate{
		Model: f, Entry: modelcall.Entry{Name: name}, Breaker: NewBreaker(BreakerConfig{}),
		Key: modelcall.NewLimiter(modelcall.Limits{}),
	}
}

// pair is a bench whose model "a" has the fallback "b".
func pair(t *testing.T, a, b []turn) (*bench, *fakeModel) {
	t.Helper()
	other, fallback := candidate("b", b...)
	_, first := candidate("a")
	return newBench(t, Config{First: first, Fallbacks: []Candidate{fallback}, Rand: fixed(0)}, a...), other
}

// fallbacks are the announcements of another model so far.
func (b *bench) fallbacks(t *testing.T) (out []fallbackEvent) {
	t.Helper()
	for _, e := range b.events {
		var f fallbackEvent
		if c, ok := e.(event.Custom); ok {
			if err := json.Unmarshal(c.Value, &f); err != nil {
				t.Fatal(err)
			}
			if f.Type == "llm_fallback" {
				out = append(out, f)
			}
		}
	}
	return out
}

func fails(c model.Class) turn { return turn{err: modelError(c)} }

func waits(c model.Class, after time.Duration) turn {
	e := modelError(c)
	e.RetryAfter = after
	return turn{err: e}
}

func answeredBy(s state.State) string {
	m := last(s)
	return modelcall.AnsweredBy(&m, "a")
}

// TestTheNextModelAnswers whatever is wrong with the first, unless it is the request.
func TestTheNextModelAnswers(t *testing.T) {
	for _, tt := range []struct {
		first turn
		tries int
		takes time.Duration
		says  string // empty: b is not asked
	}{
		{fails(model.ClassBusy), 3, 2 * time.Second, "a is overloaded; b answers"},
		{fails(model.ClassTransient), 3, 2 * time.Second, "a does not answer; b answers"},
		{fails(model.ClassRateLimit), 3, 2 * time.Second, "a limits the rate of requests; b answers"},
		{fails(model.ClassBurst), 2, 5 * time.Second, "a refuses a sudden rise of requests; b answers"},
		{fails(model.ClassQuota), 1, 0, "a has no credit or quota left; b answers"},
		{fails(model.ClassAuth), 1, 0, "a refuses the API key; b answers"},
		{fails(model.ClassNotFound), 1, 0, "a is not known to its provider; b answers"},
		{waits(model.ClassRateLimit, 5*time.Second), 3, 10 * time.Second, "a limits the rate of requests; b answers"},
		{waits(model.ClassRateLimit, 30*time.Second), 1, 0, "a limits the rate of requests; b answers"},
		{waits(model.ClassBusy, time.Hour), 1, 0, "a is overloaded; b answers"},
		{fails(model.ClassBadRequest), 1, 0, ""},
		{fails(model.ClassContextLength), 1, 0, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			tt.first.text = "half an ans"
			b, other := pair(t, []turn{tt.first}, []turn{{text: "whole"}})
			begin := time.Now()
			s, err := b.run(t.Context(), state.State{})
			if err != nil || b.model.calls() != tt.tries || time.Since(begin) != tt.takes {
				t.Errorf("%v: %d tries in %v, error %v", tt.first.err, b.model.calls(), time.Since(begin), err)
			}
			reason, explained := FallbackOf(last(s))
			class := model.AsError(tt.first.err).Class
			if tt.says == "" {
				if other.calls() != 0 || !explained || reason != string(class) {
					t.Errorf("%s: the second model was asked %d times; reason %q", class, other.calls(), reason)
				}
				return
			}
			if !is(last(s), "whole") || explained || answeredBy(s) != "b" || other.calls() != 1 {
				t.Errorf("%s: %q by %s", class, last(s).Content, answeredBy(s))
			}
			if diff := cmp.Diff([]fallbackEvent{{"llm_fallback", "a", "b", string(class), tt.says}},
				b.fallbacks(t)); diff != "" {
				t.Errorf("%s: %s", class, diff)
			}
			b.checkWithdrawn(t, last(s).ID)
		})
	}
}

// checkWithdrawn: every text that was shown was withdrawn, but for that of the message.
func (b *bench) checkWithdrawn(t *testing.T, kept string) {
	t.Helper()
	open := map[string]bool{}
	for _, e := range b.events {
		switch e := e.(type) {
		case event.Chunk:
			open[e.MessageID] = true
		case event.Discard:
			delete(open, e.MessageID)
		}
	}
	if len(open) != 1 || !open[kept] {
		t.Errorf("shown and not withdrawn: %v, the answer is %s", open, kept)
	}
}

// TestTheRunStaysWithTheModelThatWorks: the first one is not tried at each step again, and it is said once in each
// turn.
func TestTheRunStaysWithTheModelThatWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, other := pair(t, []turn{fails(model.ClassBusy)}, []turn{{calls: "look"}, {calls: "look"}, {text: "seen"}})
		s, err := b.run(t.Context(), state.State{})
		if err != nil || b.model.calls() != 3 || other.calls() != 3 || !is(last(s), "seen") ||
			len(b.fallbacks(t)) != 1 {
			t.Fatalf("%d and %d calls, %d announcements, error %v", b.model.calls(), other.calls(), len(b.fallbacks(t)),
				err)
		}
		s, err = b.run(t.Context(), s)
		if err != nil || b.model.calls() != 3 || !is(last(s), "seen") {
			t.Fatalf("the next turn asked the first model again: %d calls, error %v", b.model.calls(), err)
		}
		want := fallbackEvent{"llm_fallback", "a", "b", "busy", "a is overloaded; b answers"}
		if diff := cmp.Diff([]fallbackEvent{want, want}, b.fallbacks(t)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestOneTryFindsTheFirstModelWellAgain: while it rests nobody waits for it, and then one call finds out for all.
func TestOneTryFindsTheFirstModelWellAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := fails(model.ClassBusy)
		b, other := pair(t, []turn{busy, busy, busy, busy, {text: "back"}}, []turn{{text: "instead"}})
		run := func(want string, calls int) {
			t.Helper()
			begin := time.Now()
			s, err := b.run(t.Context(), state.State{})
			if err != nil || !is(last(s), want) || b.model.calls() != calls || calls > 3 && time.Since(begin) != 0 {
				t.Errorf("%q after %d calls and %v, error %v", last(s).Content, b.model.calls(), time.Since(begin), err)
			}
		}
		run("instead", 3)
		run("instead", 3)
		time.Sleep(time.Minute)
		run("instead", 4)
		run("instead", 4)
		time.Sleep(time.Minute)
		run("back", 5)
		run("back", 6)
		if other.calls() != 4 {
			t.Errorf("the second model was asked %d times", other.calls())
		}
	})
}

// TestAModelThatIsBackHasAllOfItsTries.
func TestAModelThatIsBackHasAllOfItsTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := fails(model.ClassBusy)
		b, _ := pair(t, []turn{busy, busy, busy, {text: "back"}, busy, busy, {text: "again"}},
			[]turn{{text: "instead"}})
		for _, want := range []string{"instead", "back", "again"} {
			if s, err := b.run(t.Context(), state.State{}); err != nil || !is(last(s), want) {
				t.Errorf("%q, want %q, error %v", last(s).Content, want, err)
			}
			time.Sleep(time.Minute)
		}
	})
}

// TestAModelRestsAsLongAsItsProviderSays but not for ever.
func TestAModelRestsAsLongAsItsProviderSays(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{2 * time.Second: 2 * time.Second,
		5 * time.Minute: 5 * time.Minute, 24 * time.Hour: longestRest} {
		synctest.Test(t, func(t *testing.T) {
			b, _ := pair(t, []turn{waits(model.ClassRateLimit, after)}, []turn{{text: "instead"}})
			if _, err := b.run(t.Context(), state.State{}); err != nil {
				t.Fatal(err)
			}
			tries := b.model.calls()
			time.Sleep(want - time.Nanosecond)
			if _, err := b.run(t.Context(), state.State{}); err != nil || b.model.calls() != tries {
				t.Errorf("asked to wait %v: it was asked before %v", after, want)
			}
			time.Sleep(time.Nanosecond)
			if _, err := b.run(t.Context(), state.State{}); err != nil || b.model.calls() == tries {
				t.Errorf("asked to wait %v: it was not asked after %v", after, want)
			}
		})
	}
}

// TestARestHoldsUpNobodyWithoutAChoice: a model that failed as a fallback is asked by the runs that have no other.
func TestARestHoldsUpNobodyWithoutAChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first := candidate("a")
		other, fallback := candidate("b", fails(model.ClassAuth), turn{text: "hello"})
		b := newBench(t, Config{First: first, Fallbacks: []Candidate{fallback}}, fails(model.ClassAuth))
		if _, err := b.run(t.Context(), state.State{}); err != nil || other.calls() != 1 {
			t.Fatalf("%d calls, %v", other.calls(), err)
		}
		own := newBench(t, Config{First: fallback})
		own.model.turns = []turn{{text: "own"}}
		if s, err := own.run(t.Context(), state.State{}); err != nil || !is(last(s), "own") {
			t.Errorf("%q, error %v", last(s).Content, err)
		}
	})
}

// TestAFallbackThatCannotHelpDoesNotEndTheRun: what the first model asked to wait for is waited for after all.
func TestAFallbackThatCannotHelpDoesNotEndTheRun(t *testing.T) {
	for _, class := range []model.Class{model.ClassContextLength, model.ClassBadRequest, model.ClassAuth,
		model.ClassBusy} {
		synctest.Test(t, func(t *testing.T) {
			b, other := pair(t, []turn{waits(model.ClassRateLimit, 30*time.Second), {text: "late"}},
				[]turn{fails(class)})
			s, err := b.run(t.Context(), state.State{})
			if err != nil || !is(last(s), "late") || answeredBy(s) != "a" || b.model.waits()[0] != 30*time.Second ||
				other.calls() == 0 {
				t.Errorf("%s: %q after %v, error %v", class, last(s).Content, b.model.waits(), err)
			}
		})
	}
}

// TestWhenNoModelAnswersAllAreNamed with what is the matter with each; the first one's failure is the reason.
func TestWhenNoModelAnswersAllAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first := candidate("a")
		_, second := candidate("b", fails(model.ClassAuth))
		third, down := candidate("c")
		for range 5 {
			one(down.Breaker, time.Now(), unwell)
		}
		b := newBench(t, Config{First: first, Fallbacks: []Candidate{second, down}, Rand: fixed(0)},
			fails(model.ClassBusy))
		s, err := b.run(t.Context(), state.State{})
		if err != nil || third.calls() != 0 {
			t.Fatalf("%d calls, error %v", third.calls(), err)
		}
		m := last(s)
		if reason, ok := FallbackOf(m); !ok || reason != "busy" ||
			string(m.Kwargs[KeyErrorType]) != `"InternalServerError"` {
			t.Errorf("reason %q, kwargs %s", reason, m.Kwargs)
		}
		for _, want := range []string{"acme is overloaded", "It was tried 3 times",
			"Asked in its place, b refuses the API key.", "Asked in its place, c has failed too often."} {
			if !strings.Contains(m.Text(), want) {
				t.Errorf("%q is not in: %s", want, m.Text())
			}
		}
		want := []fallbackEvent{{"llm_fallback", "a", "b", "busy", "a is overloaded; b answers"}}
		if diff := cmp.Diff(want, b.fallbacks(t)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestWhenAllRestTheyAreAskedNevertheless: better a late answer than none.
func TestWhenAllRestTheyAreAskedNevertheless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		auth := fails(model.ClassAuth)
		b, other := pair(t, []turn{auth, {text: "well"}}, []turn{auth})
		if s, err := b.run(t.Context(), state.State{}); err != nil || is(last(s), "well") {
			t.Fatalf("error %v", err)
		}
		if s, err := b.run(t.Context(), state.State{}); err != nil || !is(last(s), "well") || other.calls() != 1 {
			t.Errorf("%q, error %v", last(s).Content, err)
		}
	})
}

// TestTheSettingsAreThoseOfTheModelThatIsAsked.
func TestTheSettingsAreThoseOfTheModelThatIsAsked(t *testing.T) {
	b, other := pair(t, []turn{fails(model.ClassAuth)}, []turn{{text: "ok"}})
	if _, err := b.run(t.Context(), state.State{}); err != nil {
		t.Fatal(err)
	}
	if b.model.settings[0].Effort != "high" || other.settings[0].Effort != "" {
		t.Errorf("first %+v, second %+v", b.model.settings[0], other.settings[0])
	}
}

// TestAnErrorBesideTheModelsEndsTheCall also when it comes with the second model.
func TestAnErrorBesideTheModelsEndsTheCall(t *testing.T) {
	b, _ := pair(t, []turn{fails(model.ClassAuth)}, []turn{{err: errOdd}})
	if _, err := b.run(t.Context(), state.State{}); err == nil || !strings.Contains(err.Error(), errOdd.Error()) {
		t.Errorf("error %v", err)
	}
}

// TestACrowdedOutCallQueues: its key has limits, so that it is to wait for its turn however often others are faster.
func TestACrowdedOutCallQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := append(slices.Repeat([]turn{waits(model.ClassRateLimit, time.Second)}, 10), turn{text: "at last"})
		for limited, want := range map[bool]int{true: 11, false: 3} {
			limits := modelcall.Limits{}
			if limited {
				limits.RequestsPerMinute = 60
			}
			b := newBench(t, Config{First: Candidate{Key: modelcall.NewLimiter(limits)}}, turns...)
			s, err := b.run(t.Context(), state.State{})
			if err != nil || b.model.calls() != want || is(last(s), "at last") != limited {
				t.Errorf("limited %v: %d calls, %q, error %v", limited, b.model.calls(), last(s).Content, err)
			}
		}
	})
}

// TestAWaitForThePlaceIsAnnounced once, after a second.
func TestAWaitForThePlaceIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := modelcall.NewLimiter(modelcall.Limits{RequestsPerMinute: 1})
		cfg := Config{First: Candidate{Entry: modelcall.Entry{Name: "a"}, Key: key}}
		quick, slow := newBench(t, cfg, turn{text: "one"}), newBench(t, cfg, turn{text: "two"})
		for _, b := range []*bench{quick, slow} {
			if _, err := b.run(t.Context(), state.State{}); err != nil {
				t.Fatal(err)
			}
		}
		var got queuedEvent
		said := 0
		for _, e := range slices.Concat(quick.events, slow.events) {
			if c, ok := e.(event.Custom); ok {
				said++
				if err := json.Unmarshal(c.Value, &got); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := queuedEvent{"llm_queued", "a", 0, "waiting for a place among the calls of a; 0 before this one"}
		if diff := cmp.Diff(want, got); diff != "" || said != 1 {
			t.Errorf("said %d times %s", said, diff)
		}
	})
}
