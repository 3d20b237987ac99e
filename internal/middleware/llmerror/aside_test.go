package llmerror

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

var errOdd = errors.New("a hook broke")

// beside makes a call beside a conversation to the models "a" and "b".
func beside(ctx context.Context, a, b []turn) (message.Message, [2]*fakeModel, error) {
	first, one := candidate("a", a...)
	second, two := candidate("b", b...)
	m := Aside(Config{First: one, Fallbacks: []Candidate{two}, Rand: fixed(0)})
	answer, err := model.Collect(m.Stream(ctx, &model.Request{Settings: model.Settings{Effort: "low"}}))
	return answer, [2]*fakeModel{first, second}, err
}

// TestCallsBesideAreGuardedToo: they are tried again, and go on with another model.
func TestCallsBesideAreGuardedToo(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b   []turn
		calls  [2]int
		says   string
		by     string
		failed model.Class
	}{
		"at once":     {[]turn{{text: "x"}}, nil, [2]int{1, 0}, "x", "a", ""},
		"tried again": {[]turn{fails(model.ClassBusy), {text: "x"}}, nil, [2]int{2, 0}, "x", "a", ""},
		"by another": {[]turn{fails(model.ClassQuota)}, []turn{{text: "y"}}, [2]int{1, 1}, "y", "b",
			""},
		"the first one's failure": {[]turn{fails(model.ClassQuota)}, []turn{fails(model.ClassBusy)}, [2]int{1, 3},
			"", "a", model.ClassQuota},
		"too long": {[]turn{fails(model.ClassContextLength)}, []turn{{text: "y"}}, [2]int{1, 0}, "",
			"a", model.ClassContextLength},
		"what is out cannot be taken": {[]turn{{text: "half", err: modelError(model.ClassTransient)}},
			[]turn{{text: "y"}}, [2]int{1, 0}, "half", "a", model.ClassTransient},
	} {
		synctest.Test(t, func(t *testing.T) {
			answer, models, err := beside(t.Context(), tt.a, tt.b)
			e := model.AsError(err)
			if (e == nil) != (tt.failed == "") || e != nil && e.Class != tt.failed {
				t.Errorf("%s: error %v", name, err)
			}
			if answer.Text() != tt.says || modelcall.AnsweredBy(&answer, "a") != tt.by {
				t.Errorf("%s: %q by %s", name, answer.Text(), modelcall.AnsweredBy(&answer, "a"))
			}
			for i, m := range models {
				if m.calls() != tt.calls[i] {
					t.Errorf("%s: model %d was asked %d times", name, i, m.calls())
				}
				if i == 1 && m.calls() > 0 && m.settings[0].Effort != "" {
					t.Errorf("%s: settings %+v", name, m.settings[0])
				}
			}
		})
	}
}

func TestCallBesideEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begin := time.Now()
		_, models, err := beside(ctx, []turn{{hang: true}}, []turn{{text: "y"}})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 5*time.Second || models[1].calls() != 0 {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
	})
}

// TestAReaderMayStop: the call is over, and nothing is asked again.
func TestAReaderMayStop(t *testing.T) {
	f, c := candidate("a", turn{text: "much"})
	for range Aside(Config{First: c}).Stream(t.Context(), &model.Request{}) {
		break
	}
	if f.calls() != 1 || Aside(Config{First: c}).Name() != "acme/mini" {
		t.Errorf("asked %d times", f.calls())
	}
}
