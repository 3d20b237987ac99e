package route

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
)

func asks() bool { return true }

// TestOfEachClassAUserMaySendSoManyAMinute: what is full is full for him and the class alone, and time makes room
// again.
func TestOfEachClassAUserMaySendSoManyAMinute(t *testing.T) {
	t.Parallel()
	l := &limiter{rates: Rates{Work: 60, Cheap: 2}, asks: asks}
	ann, bob := access.Principal{User: access.FromRow("ann")}, access.Principal{User: access.FromRow("bob")}
	now := time.Unix(1_900_000_000, 0)
	for i := range 60 {
		if wait := l.take(ann, "", Work, now); wait != 0 {
			t.Fatalf("request %d waits %v", i, wait)
		}
	}
	for range 3 { // who is refused does not move his turn back
		if wait := l.take(ann, "", Work, now); wait != time.Second {
			t.Errorf("one too many waits %v, want a second", wait)
		}
	}
	if l.take(bob, "", Work, now) != 0 || l.take(ann, "", Cheap, now) != 0 {
		t.Error("another user, or another class, is refused")
	}
	for range 1000 {
		if l.take(ann, "", Free, now) != 0 || l.take(ann, "", Write, now) != 0 {
			t.Fatal("a class without a bound is bounded")
		}
	}
	now = now.Add(time.Second)
	if l.take(ann, "", Work, now) != 0 || l.take(ann, "", Work, now) == 0 {
		t.Error("a second makes room for one")
	}
}

// TestWithoutATokenThereIsMuchMoreRoom, because all callers are one user.
func TestWithoutATokenThereIsMuchMoreRoom(t *testing.T) {
	t.Parallel()
	l, now := &limiter{rates: Rates{Work: 2}}, time.Unix(1_900_000_000, 0)
	for i := range 200 {
		if l.take(access.Principal{User: access.Default()}, "", Work, now) != 0 {
			t.Fatalf("request %d waits", i)
		}
	}
	if l.take(access.Principal{User: access.Default()}, "", Work, now) == 0 {
		t.Error("there is no bound")
	}
}

// TestTheNumberOfThoseWhoAreCountedIsBounded: beyond it they share one bucket, until those before them have paused.
func TestTheNumberOfThoseWhoAreCountedIsBounded(t *testing.T) {
	t.Parallel()
	l, now := &limiter{rates: Rates{Costly: 10}, asks: asks}, time.Unix(1_900_000_000, 0)
	for i := range maxBuckets {
		l.take(access.Principal{}, fmt.Sprint(i), Costly, now)
	}
	for i := range 10 {
		if l.take(access.Principal{}, fmt.Sprint("late", i), Costly, now) != 0 {
			t.Fatalf("%d of the others waits", i)
		}
	}
	if l.take(access.Principal{}, "later still", Costly, now) == 0 {
		t.Error("the others are not bounded")
	}
	if n := len(l.buckets); n > maxBuckets+1 {
		t.Errorf("%d are counted", n)
	}
	now = now.Add(time.Minute)
	if l.take(access.Principal{}, "later still", Costly, now) != 0 || len(l.buckets) > 2 {
		t.Errorf("after a minute %d are counted", len(l.buckets))
	}
}

// TestDefaultRates are those that docs/api.md and docs/operations.md name.
func TestDefaultRates(t *testing.T) {
	t.Parallel()
	want := Rates{Cheap: 6000, Write: 3000, Costly: 1200, Work: 1200, Stream: 1200}
	if diff := cmp.Diff(want, DefaultRates()); diff != "" {
		t.Error(diff)
	}
}
