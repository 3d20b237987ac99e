package probe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/models/scripted"
)

// result is that of one task.
func result(r Report, task string) Result {
	for _, x := range r.Results {
		if x.Task == task {
			return x
		}
	}
	return Result{}
}

func TestTimesAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := played(func(turn *scripted.Turn) {
			turn.Delay, turn.ChunkDelay = 700*time.Millisecond, 50*time.Millisecond
		})
		r := Run(t.Context(), Config{Model: m, Declared: everything})
		if got := result(r, "streams"); got.Outcome != Pass ||
			!strings.HasSuffix(got.Detail, "the first after 0.7 s") || got.Millis < 1000 {
			t.Errorf("%+v", got)
		}
		if r.Verdict != Good || r.Millis < 14*700 {
			t.Errorf("%q after %d ms", r.Verdict, r.Millis)
		}
	})
}

func TestAStreamThatWasHeldBackIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := played(func(turn *scripted.Turn) { turn.Delay, turn.ChunkDelay = 3*time.Second, 0 })
		r := Run(t.Context(), Config{Model: m, Declared: everything})
		if got := result(r, "streams"); got.Outcome != Fail ||
			!strings.Contains(got.Detail, "all of them together after 3.0 s") || r.Verdict != Works ||
			len(r.Advice) != 1 {
			t.Errorf("%+v %q %q", got, r.Verdict, r.Advice)
		}
	})
}

func TestAnOutageIsTriedAgainOnce(t *testing.T) {
	for _, failures := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			left := failures
			m := played(nil, func(a *asked, r *reply) {
				if strings.Contains(a.user, "Use the tool") && left > 0 {
					left--
					*r = reply{status: 503, problem: "overloaded"}
				}
			})
			start := time.Now()
			r := Run(t.Context(), Config{Model: m, Declared: everything})
			got := result(r, taskTool)
			if failures == 1 && (got.Outcome != Pass || r.Verdict != Good || time.Since(start) < usualWait) {
				t.Errorf("%+v %q", got, r.Verdict)
			}
			if failures == 2 && (got.Outcome != Fail || !got.NoAnswer || r.Verdict != NoVerdict ||
				result(r, taskResults).Outcome != Pass) {
				t.Errorf("%+v %q", got, r.Verdict)
			}
		})
	}
}

func TestEveryCallHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := played(func(turn *scripted.Turn) {
			if len(turn.ToolCalls) == 3 {
				turn.Delay = time.Hour
			}
		})
		start := time.Now()
		r := Run(t.Context(), Config{Model: m, Declared: everything})
		got := result(r, "parallel")
		if got.Outcome != Fail || !got.NoAnswer ||
			got.Detail != "no complete answer within 60 s: context deadline exceeded" || r.Verdict != Works ||
			time.Since(start) > 70*time.Second {
			t.Errorf("%+v %q after %s", got, r.Verdict, time.Since(start))
		}
	})
}

func TestTheWholeProbeHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := played(func(turn *scripted.Turn) { turn.Delay = 50 * time.Second })
		start := time.Now()
		r := Run(t.Context(), Config{Model: m, Declared: everything, Total: 3 * time.Minute})
		if took := time.Since(start); took != 3*time.Minute || r.Verdict != NoVerdict ||
			!errors.Is(r.Err, context.DeadlineExceeded) {
			t.Errorf("%s, %q, %v", took, r.Verdict, r.Err)
		}
		if got := result(r, "parallel"); !strings.Contains(got.Detail, "may take 180 s") {
			t.Errorf("%+v", got)
		}
		if got := result(r, "cache"); got.Outcome != NotApplicable {
			t.Errorf("%+v", got)
		}
	})
}

func TestAProbeCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := Run(ctx, Config{Model: played(nil), Declared: everything, Done: func(r Result) {
			if r.Task == taskSchema {
				cancel()
			}
		}})
		if !errors.Is(r.Err, context.Canceled) || r.Verdict != NoVerdict || result(r, taskSchema).Outcome != Pass ||
			result(r, taskResults).Detail != "not tried" {
			t.Errorf("%v, %q, %+v", r.Err, r.Verdict, r.Results)
		}
	})
}

func TestAnAnswerWithoutEndIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := played(func(turn *scripted.Turn) {
			if strings.Contains(turn.Text, "three") {
				turn.Text, turn.ChunkSize, turn.ChunkDelay = strings.Repeat("x", maxAnswer+4096), 1024, 0
			}
		})
		r := Run(t.Context(), Config{Model: m, Declared: everything})
		if got := result(r, "streams"); got.Outcome != Fail || got.NoAnswer ||
			!strings.Contains(got.Detail, "256 KiB") {
			t.Errorf("%+v", got)
		}
	})
}
