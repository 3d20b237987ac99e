package goals

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/units"
)

func TestOnlyMissedStrictGoalsCount(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      figure
		line   string
		missed int
	}{
		{"no goal", figure{name: "a", unit: units.Seconds, value: 0.25, floor: 0.1}, "a 250 ms 100 ms 2.50x", 0},
		{"time met", figure{name: "a", unit: units.Seconds, value: 5e-6, goal: within(5e-6)}, "a 5 µs ≤ 5 µs ✓", 0},
		{"time missed", figure{name: "a", unit: units.Seconds, value: 2, goal: within(1)}, "a 2 s ≤ 1 s ✗", 0},
		{"ratio met", figure{name: "a", unit: units.Short, value: 10, floor: 2, goal: atMost(5)}, "a 10 2 5x ≤ 5x ✓", 0},
		{"ratio missed", figure{name: "a", unit: units.Short, value: 11, floor: 2, goal: atMost(5)}, "a 11 2 5.50x ≤ 5x ✗", 1},
		{"gain met", figure{name: "a", unit: perSecond, value: 400, floor: 100, goal: atLeast(3)}, "a 400/s 100/s 4x ≥ 3x ✓", 0},
		{"gain missed", figure{name: "a", unit: perSecond, value: 200, floor: 100, goal: atLeast(3)}, "a 200/s 100/s 2x ≥ 3x ✗", 1},
		{"size missed", figure{name: "a", unit: units.Bytes, value: 3 << 20, goal: sized(20 << 10)}, "a 3 MiB ≤ 20 KiB ✗", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			r := &report{out: &out}
			r.add(c.f)
			if got := strings.Join(strings.Fields(out.String()), " "); got != c.line {
				t.Errorf("got  %s\nwant %s", got, c.line)
			}
			if r.missed != c.missed {
				t.Errorf("%d missed", r.missed)
			}
		})
	}
}

func TestSidesTakeTurns(t *testing.T) {
	var order string
	one := func(name string, took ...time.Duration) side {
		return func(context.Context) ([]time.Duration, error) {
			order += name
			return took, nil
		}
	}
	got, err := compare(t.Context(), 2, one("a", time.Second, 9*time.Second, 2*time.Second), one("b", 4*time.Second))
	if err != nil || order != "ababab" || got[0] != 2 || got[1] != 4 {
		t.Errorf("order %s, medians %v, error %v", order, got, err)
	}
	broken := errors.New("broken")
	_, err = compare(t.Context(), 2, func(context.Context) ([]time.Duration, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
