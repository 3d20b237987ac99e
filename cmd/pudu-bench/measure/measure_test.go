package measure

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/units"
)

func TestOnlyMissedStrictGoalsCount(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      Figure
		line   string
		missed int
	}{
		{"no goal", Figure{Name: "a", Unit: units.Seconds, Value: 0.25, Beside: 0.1}, "a 250 ms 100 ms 2.50x", 0},
		{"time met", Time("a", 5*time.Microsecond, 0, Within(5e-6)), "a 5 µs ≤ 5 µs ✓", 0},
		{"time missed", Time("a", 2*time.Second, 0, Within(1)), "a 2 s ≤ 1 s ✗", 0},
		{"ratio met", Figure{Name: "a", Value: 10, Beside: 2, Goal: AtMost(5)}, "a 10 2 5x ≤ 5x ✓", 0},
		{"ratio missed", Figure{Name: "a", Value: 11, Beside: 2, Goal: AtMost(5)}, "a 11 2 5.50x ≤ 5x ✗", 1},
		{"gain met", Figure{Name: "a", Unit: PerSecond, Value: 400, Beside: 100, Goal: AtLeast(3)},
			"a 400/s 100/s 4x ≥ 3x ✓", 0},
		{"gain missed", Figure{Name: "a", Unit: PerSecond, Value: 200, Beside: 100, Goal: AtLeast(3)},
			"a 200/s 100/s 2x ≥ 3x ✗", 1},
		{"rate missed", Figure{Name: "a", Unit: PerSecond, Value: 2, Goal: &Goal{Limit: 3, Least: true}},
			"a 2/s ≥ 3/s ✗", 0},
		{"size missed", Size("a", 3<<20, Sized(20<<10)), "a 3 MiB ≤ 20 KiB ✗", 1},
		{"errors", Errors("a", 2, errors.New("boom")), "a 2 ≤ 0 ✗ boom", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			r := &Table{Out: &out}
			r.Add(c.f)
			if got := strings.Join(strings.Fields(out.String()), " "); got != c.line {
				t.Errorf("got  %s\nwant %s", got, c.line)
			}
			if r.Missed != c.missed || len(r.Figures) != 1 {
				t.Errorf("%d missed of %d", r.Missed, len(r.Figures))
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	if got := Quantile([]time.Duration{3, 1, 2}, 0.5); got != 2 {
		t.Error(got)
	}
	if got := Quantile([]time.Duration{3, 1, 2}, 1); got != 3 {
		t.Error(got)
	}
	if got := Quantile(nil, 0.5); got != 0 {
		t.Error(got)
	}
}

func TestUsageOfAProcess(t *testing.T) {
	pid := os.Getpid()
	before, err := ProcessorTime(pid)
	if errors.Is(err, ErrNoProcess) {
		t.Logf("there is no /proc here: %v", err)
		return
	}
	for now := before; err == nil && now == before; { // time passes by looking at it
		now, err = ProcessorTime(pid)
	}
	rss, errRSS := Memory(pid)
	if err != nil || errRSS != nil || rss < 1<<20 {
		t.Error(err, errRSS, rss)
	}
	if own, err := OwnMemory(pid); err != nil || own < 1<<16 || own >= rss {
		t.Errorf("%v of %v bytes are its own: %v", own, rss, err)
	}
	for _, none := range []int{1 << 30} {
		if _, err := Memory(none); !errors.Is(err, ErrNoProcess) {
			t.Errorf("process %d: %v", none, err)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("1 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0"))
	f.Add([]byte("1 (x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parseStat(b)
		if err == nil && d < 0 {
			t.Errorf("%v", d)
		}
		if string(b) == "1 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0" && d != 2*time.Second {
			t.Errorf("%v %v", d, err)
		}
	})
}
