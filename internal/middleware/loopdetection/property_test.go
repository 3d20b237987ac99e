package loopdetection

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/state"
)

func config(t *rapid.T) Config {
	return Config{
		WarnThreshold: rapid.IntRange(0, 4).Draw(t, "warn"), HardLimit: rapid.IntRange(0, 6).Draw(t, "hard"),
		Window: rapid.IntRange(0, 8).Draw(t, "window"),
		Tool: Rule{Warn: rapid.IntRange(0, 6).Draw(t, "tool warn"), HardLimit: rapid.IntRange(0, 9).
			Draw(t, "tool hard")},
	}
}

// asks draws messages of calls from a small world, in which repetitions are likely.
func asks(t *rapid.T, answer func(i int) string) script {
	n := 0
	one := func() []ask {
		var out []ask
		for range rapid.IntRange(1, 3).Draw(t, "parallel") {
			name := rapid.SampledFrom([]string{"bash", "read_file", "write_file", "web_search", "x"}).Draw(t, "tool")
			key := rapid.SampledFrom([]string{"path", "query", "command", "n"}).Draw(t, "key")
			args := fmt.Sprintf(`{"description":"%d","%s":"%d"}`, n, key, rapid.IntRange(0, 2).Draw(t, "value"))
			out = append(out, ask{name, args, answer(n)})
			n++
		}
		return out
	}
	var s script
	for range rapid.IntRange(1, 25).Draw(t, "messages") {
		s = append(s, one())
	}
	return s
}

// TestDifferentResultsAreNeverStopped: as long as all results differ, no sequence of calls ends the run.
func TestDifferentResultsAreNeverStopped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := play(t, config(t), asks(t, func(i int) string { return fmt.Sprintf("result %d", i) }), nil)
		if r.Reason() != "" {
			t.Fatalf("stopped: %q", r.notes())
		}
	})
}

// TestRepetitionIsStoppedWithinTheLimit: whatever went before, one message of calls with one result does not come more
// often than the limit allows.
func TestRepetitionIsStoppedWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := config(t)
		before := asks(t, func(i int) string { return fmt.Sprintf("result %d", i) })
		var unit []ask
		for i := range rapid.IntRange(1, 3).Draw(t, "calls of the loop") {
			unit = append(unit, ask{"loop", fmt.Sprintf(`{"n":%d}`, i),
				rapid.SampledFrom([]string{"OK", "same", "!no", ""}).Draw(t, "result")})
		}
		r := play(t, cfg, append(before, always(40, unit...)...), nil)
		calls := 0
		for _, s := range before {
			calls += len(s)
		}
		if loops := (r.made() - calls) / len(unit); r.Reason() != Reason || loops > New(cfg).cfg.HardLimit {
			t.Fatalf("reason %q after %d rounds", r.Reason(), loops)
		}
	})
}

// TestCountersSurviveARestart: a run that goes on from any of its checkpoints ends as the one that was not cut off,
// with the same counters, also when these are put together from the stored updates.
func TestCountersSurviveARestart(t *testing.T) {
	same := cmp.Options{cmp.AllowUnexported(seen{}), cmpopts.IgnoreFields(seen{}, "At")}
	rapid.Check(t, func(t *rapid.T) {
		cfg := config(t)
		s := asks(t, func(int) string { return rapid.SampledFrom([]string{"a", "b", "OK"}).Draw(t, "result") })
		whole := play(t, cfg, s, nil)
		want := record.Get(whole.State)
		if diff := cmp.Diff(want, record.Get(replayed(t, whole)), cmp.AllowUnexported(seen{}),
			cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		step := whole.Steps[rapid.IntRange(0, len(whole.Steps)-1).Draw(t, "checkpoint")]
		if step.Next == agent.Done {
			return
		}
		again := play(t, cfg, s, &step)
		if diff := cmp.Diff(want, record.Get(again.State), same, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(whole.notes(), again.notes()); diff != "" || whole.Reason() != again.Reason() {
			t.Fatal(whole.Reason(), again.Reason(), diff)
		}
	})
}

// replayed is the last state, made of the stored updates of all steps.
func replayed(t *rapid.T, r ran) state.State {
	s, err := r.Agent.Schema().Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range r.Steps {
		for _, u := range step.Updates {
			raw, err := u.Update.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if s, err = s.Replay(raw); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// TestTheMemoryIsBounded: however many calls there are, the record holds what the configuration says.
func TestTheMemoryIsBounded(t *testing.T) {
	r := play(t, Config{}, each(200, func(i int) ask {
		return ask{"x", fmt.Sprintf(`{"n":%d}`, i), fmt.Sprint("result ", i)}
	}), nil)
	got := record.Get(r.State)
	raw, err := json.Marshal(got)
	if err != nil || len(got.Units) != 20 || len(got.Calls) != 50 || len(raw) > 5000 {
		t.Errorf("%d units, %d calls, %d bytes, error %v", len(got.Units), len(got.Calls), len(raw), err)
	}
	var last []byte
	for _, w := range r.Steps[len(r.Steps)-3].Updates {
		raw, _ := w.Update.MarshalJSON()
		last = append(last, raw...)
	}
	if len(last) > 600 {
		t.Errorf("a step stores %d bytes: %s", len(last), last)
	}
}

func FuzzCallKey(f *testing.F) {
	for _, s := range []string{`{}`, `{"path":"a","start_line":1}`, `{"start_line":"x"}`, `{"start_line":-1e300}`, `[]`,
		`{"n":{"a":[1]}}`, ``} {
		f.Add("read_file", s)
		f.Add("bash", s)
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		if key := callKey(name, json.RawMessage(args)); len(key) != 12 || key != callKey(name, json.RawMessage(args)) {
			t.Fatal(key)
		}
	})
}

func FuzzStable(f *testing.F) {
	f.Add("[Full bash output saved to /mnt/x.log (1 chars).]\n/mnt/x.log")
	f.Add("[Full  output saved to  (")
	f.Fuzz(func(t *testing.T, text string) {
		if got := stable(text); len(got) > len(text) {
			t.Fatal(got)
		}
	})
}
