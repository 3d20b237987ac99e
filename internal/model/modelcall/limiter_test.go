package modelcall

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func unheard(int) {}

// log is when calls went ahead, in order.
type log struct {
	mu    sync.Mutex
	calls []made
}

type made struct {
	who, tokens int
	from, to    time.Time
}

// crowd makes n calls at once, each of so many tokens and so long, and returns when which of them went ahead.
func crowd(t *testing.T, l *Limiter, n, tokens int, takes time.Duration) []made {
	t.Helper()
	var got log
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			p, err := l.acquire(t.Context(), new(ticket), "m", tokens, unheard)
			if err != nil {
				t.Error(err)
				return
			}
			from := time.Now()
			time.Sleep(takes)
			got.mu.Lock()
			got.calls = append(got.calls, made{i, tokens, from, time.Now()})
			got.mu.Unlock()
			p.done(tokens)
		})
		synctest.Wait() // they come one after the other
	}
	wg.Wait()
	return got.calls
}

// most are the largest numbers of calls and tokens that began within any minute.
func most(calls []made) (requests, tokens int) {
	for i := range calls {
		r, n := 0, 0
		for _, c := range calls {
			if d := c.from.Sub(calls[i].from); d >= 0 && d < time.Minute {
				r, n = r+1, n+c.tokens
			}
		}
		requests, tokens = max(requests, r), max(tokens, n)
	}
	return requests, tokens
}

func TestRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		calls := crowd(t, NewLimiter(Limits{RequestsPerMinute: 60}), 200, 0, time.Second)
		if n, _ := most(calls); n != 60 {
			t.Errorf("%d calls in a minute", n)
		}
		if took := time.Since(begin); took > 3*minute+2*time.Second {
			t.Errorf("took %v", took)
		}
		slices.SortFunc(calls, func(a, b made) int { return a.who - b.who })
		if !slices.IsSortedFunc(calls, func(a, b made) int { return a.from.Compare(b.from) }) {
			t.Error("who came first did not go first")
		}
	})
}

func TestTokensPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := crowd(t, NewLimiter(Limits{TokensPerMinute: 1000}), 12, 300, time.Second)
		if _, n := most(calls); n != 900 || len(calls) != 12 {
			t.Errorf("%d tokens in a minute, %d calls", n, len(calls))
		}
	})
}

// TestWhatACallTookCounts and not what was guessed before.
func TestWhatACallTookCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{TokensPerMinute: 1000})
		begin := time.Now()
		for _, c := range []struct {
			guess, took int
			at          time.Duration
		}{{900, 100, 0}, {900, 700, 0}, {300, 5000, minute}, {1, 1, 2 * minute}, {5000, 10, 3 * minute}} {
			p, err := l.acquire(t.Context(), new(ticket), "m", c.guess, unheard)
			if got := time.Since(begin); err != nil || got != c.at {
				t.Fatalf("a call of %d went ahead after %v, want %v (%v)", c.guess, got, c.at, err)
			}
			p.done(c.took)
		}
	})
}

// TestAnAnswerIsExpectedToHaveALength as those before it had: else calls side by side would pass the limit together.
func TestAnAnswerIsExpectedToHaveALength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{TokensPerMinute: 1000})
		for range 20 { // as many as it takes to know
			p, _ := l.acquire(t.Context(), new(ticket), "m", 100, unheard)
			p.done(300)
			time.Sleep(minute)
		}
		begin, soon := time.Now(), 0
		for range 10 {
			if p, _ := l.acquire(t.Context(), new(ticket), "m", 100, unheard); time.Since(begin) == 0 {
				defer p.done(300)
				soon++
			}
		}
		if soon != 3 {
			t.Errorf("%d calls of 300 tokens went ahead at once", soon)
		}
	})
}

func TestConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		crowd(t, NewLimiter(Limits{Concurrent: 8}), 20, 0, time.Second)
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("20 calls of a second, 8 at once, took %v", took)
		}
	})
}

func TestNoLimits(t *testing.T) {
	var none *Limiter
	p, err := none.acquire(t.Context(), new(ticket), "m", 1, unheard)
	if err != nil || none.Limited() || NewBound(0) != nil || NewLimiter(Limits{}).Limited() {
		t.Errorf("want no bound, got %v", err)
	}
	p.accepted()
	p.refused(time.Hour)
	p.done(1)
}

// TestARefusalHoldsUpTheOthers for as long as the vendor says, but no longer than a minute, and not those for another
// model.
func TestARefusalHoldsUpTheOthers(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{0: time.Second, 20 * time.Second: 20 * time.Second,
		time.Hour: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			l, begin := NewLimiter(Limits{}), time.Now()
			refused, _ := l.acquire(t.Context(), new(ticket), "m", 0, unheard)
			refused.refused(after)
			refused.done(0)
			other, _ := l.acquire(t.Context(), new(ticket), "other", 0, unheard)
			if took := time.Since(begin); took != 0 {
				t.Errorf("another model waited %v", took)
			}
			other.done(0)
			p, _ := l.acquire(t.Context(), new(ticket), "m", 0, unheard)
			if took := time.Since(begin); took != want {
				t.Errorf("asked to wait %v, the next call waited %v", after, took)
			}
			p.done(0)
		})
	}
}

// TestAfterARefusalCallsComeBackAFewAtATime: as many as were accepted, and one more.
func TestAfterARefusalCallsComeBackAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, begin := NewLimiter(Limits{}), time.Now()
		p, _ := l.acquire(t.Context(), new(ticket), "m", 0, unheard)
		p.refused(0)
		p.done(0)
		at := map[time.Duration]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				p, _ := l.acquire(t.Context(), new(ticket), "m", 0, unheard)
				mu.Lock()
				at[time.Since(begin)]++
				mu.Unlock()
				time.Sleep(time.Second)
				p.accepted()
				p.done(0)
			})
		}
		wg.Wait()
		var got []int
		for s := range 8 {
			got = append(got, at[time.Duration(s+1)*time.Second])
		}
		if diff := cmp.Diff([]int{1, 2, 4, 8, 16, 32, 37, 0}, got); diff != "" {
			t.Errorf("calls by the second: %s", diff)
		}
		if len(l.models) != 0 {
			t.Error("what was learned is not forgotten")
		}
	})
}

// TestASilentCallHoldsUpNobodyForLong: a model that thinks before its first word has refused nothing.
func TestASilentCallHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{})
		p, _ := l.acquire(t.Context(), new(ticket), "m", 0, unheard)
		p.refused(0)
		p.done(0)
		silent, _ := l.acquire(t.Context(), new(ticket), "m", 0, unheard)
		begin := time.Now()
		next, _ := l.acquire(t.Context(), new(ticket), "m", 0, unheard)
		if took := time.Since(begin); took != trial {
			t.Errorf("waited %v", took)
		}
		silent.done(0)
		next.done(0)
	})
}

// TestATicketKeepsItsPlace: who was refused comes before those who came after him.
func TestATicketKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, first := NewLimiter(Limits{Concurrent: 1}), ticket(0)
		p, _ := l.acquire(t.Context(), &first, "m", 0, unheard)
		var order []string
		var wg sync.WaitGroup
		call := func(name string, at *ticket) {
			wg.Go(func() {
				p, _ := l.acquire(t.Context(), at, "m", 0, unheard)
				order = append(order, name)
				p.done(0)
			})
			synctest.Wait()
		}
		call("second", new(ticket))
		call("third", new(ticket))
		call("first again", &first)
		p.done(0)
		wg.Wait()
		if diff := cmp.Diff([]string{"first again", "second", "third"}, order); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhoWaitsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, told := NewBound(1), []int(nil)
		p, _ := l.acquire(t.Context(), new(ticket), "m", 0, func(int) { t.Error("told without a wait") })
		time.AfterFunc(time.Hour, func() { p.done(0) })
		q, err := l.acquire(t.Context(), new(ticket), "m", 0, func(ahead int) { told = append(told, ahead) })
		if err != nil || !slices.Equal(told, []int{1}) {
			t.Errorf("told %v, %v", told, err)
		}
		q.done(0)
	})
}

// TestWhateverHappens no limit is passed, nothing is lost, and everybody who stays gets his turn.
func TestWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := Limits{
			RequestsPerMinute: rapid.IntRange(0, 5).Draw(rt, "requests"), TokensPerMinute: rapid.IntRange(0, 50).
						Draw(rt, "tokens"), Concurrent: rapid.IntRange(0, 3).Draw(rt, "concurrent"),
		}
		plans := rapid.SliceOfN(rapid.Custom(drawPlan), 1, 25).Draw(rt, "calls")
		synctest.Test(t, func(*testing.T) { play(rt, NewLimiter(limits), plans) })
	})
}

type plan struct {
	comes, takes, patience time.Duration
	tokens                 int
	model                  string
	refused                bool
}

func drawPlan(rt *rapid.T) plan {
	second := func(label string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(rt, label)) * time.Second
	}
	return plan{
		second("comes", 40), second("takes", 20), second("patience", 60), rapid.IntRange(0, 60).Draw(rt, "tokens"),
		rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "model"), rapid.Bool().Draw(rt, "refused"),
	}
}

func play(rt *rapid.T, l *Limiter, plans []plan) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var calls []made
	under, gone := 0, 0
	for i, c := range plans {
		wg.Go(func() {
			time.Sleep(c.comes)
			ctx := context.Background()
			if c.patience > 0 && c.patience < 30*time.Second {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.patience)
				defer cancel()
			}
			p, err := l.acquire(ctx, new(ticket), c.model, c.tokens, unheard)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if !errors.Is(err, context.DeadlineExceeded) {
					rt.Errorf("error %v", err)
				}
				gone++
				return
			}
			if under++; l.limits.Concurrent > 0 && under > l.limits.Concurrent {
				rt.Errorf("%d at once", under)
			}
			calls = append(calls, made{i, c.tokens, time.Now(), time.Time{}})
			mu.Unlock()
			time.Sleep(c.takes)
			mu.Lock()
			if c.refused {
				p.refused(c.takes)
			} else {
				p.accepted()
			}
			under--
			p.done(c.tokens)
		})
	}
	wg.Wait()
	l.mu.Lock() // its clock may still serve
	defer l.mu.Unlock()
	requests, tokens := most(calls)
	if len(calls)+gone != len(plans) || l.under != 0 || len(l.queue) != 0 {
		rt.Errorf("%d of %d calls were made, %d gave up; %d under way, %d in the queue", len(calls), len(plans), gone,
			l.under, len(l.queue))
	}
	for _, m := range l.models {
		if m.trying != 0 {
			rt.Errorf("%d are still on trial", m.trying)
		}
	}
	if n := l.limits.RequestsPerMinute; n > 0 && requests > n {
		rt.Errorf("%d calls in a minute, allowed are %d", requests, n)
	}
	if n := l.limits.TokensPerMinute; n > 0 && tokens > max(n, 60) {
		rt.Errorf("%d tokens in a minute, allowed are %d", tokens, n)
	}
}

// TestWhoIsLetInAndGivesUpAtOnce leaves no trace: the next one goes, and the call that was not made does not count.
func TestWhoIsLetInAndGivesUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Limits{RequestsPerMinute: 1, Concurrent: 1})
		in, waiting := l.join(new(ticket), "m", 0), l.join(new(ticket), "m", 0)
		if in.permit == nil || waiting.permit != nil {
			t.Fatal("want one in and one waiting")
		}
		l.quit(in)
		if waiting.permit == nil || l.under != 1 || len(l.minute.calls) != 1 {
			t.Errorf("%d under way, %d counted", l.under, len(l.minute.calls))
		}
		waiting.permit.done(0)
	})
}
