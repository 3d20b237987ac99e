package threads

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// deep is a store whose threads have many checkpoints, made by hand, one a step.
type deep struct {
	store.Store
	store.UserData

	steps, read int
	fails       error
}

func (d *deep) For(access.User) store.UserData { return d }

func (d *deep) id(step int) string { return fmt.Sprintf("%08x", step) }

func (d *deep) Checkpoints(_ context.Context, _, before string, limit int) (list []store.Checkpoint, err error) {
	step := d.steps
	if before != "" {
		if _, err := fmt.Sscanf(strings.TrimSuffix(before, "~"), "%x", &step); err != nil {
			return nil, err
		}
		if !strings.HasSuffix(before, "~") {
			step--
		}
	}
	for step = min(step, d.steps); step > 0 && len(list) < limit; step-- {
		list = append(list, store.Checkpoint{ID: d.id(step), First: 1, Step: step})
	}
	d.read += len(list)
	return list, d.fails
}

// TestTheDepthOfASearch: a page by metadata is filled from all that there is, up to a bound, and no more is read than
// that takes.
func TestTheDepthOfASearch(t *testing.T) {
	d := &deep{steps: 30_000}
	v := (&Group{Env: &route.Env{Store: d}}).newViewer(store.Thread{ID: "t"})
	step := func(n int) map[string]json.RawMessage {
		return map[string]json.RawMessage{"step": json.RawMessage(fmt.Sprint(n))}
	}
	for _, c := range []struct {
		name  string
		p     past
		found []int
		read  int
	}{
		{"the newest", past{limit: 2}, []int{30000, 29999}, 2},
		{"before one", past{limit: 2, before: d.id(100)}, []int{99, 98}, 3},
		{"before the first", past{limit: 2, before: d.id(1)}, nil, 1},
		{"one", past{limit: 2, only: d.id(7)}, []int{7}, 1},
		{"one that is not there", past{limit: 2, only: d.id(30001)}, nil, 1},
		{"by its step", past{limit: 1, match: step(29500)}, []int{29500}, 1000},
		{"by its step, further back", past{limit: 1, match: step(28000)}, []int{28000}, 3000},
		{"at the end of a part", past{limit: 1, match: step(29001)}, []int{29001}, 1000},
		{"at the bound", past{limit: 1, match: step(10001)}, []int{10001}, 20000},
		{"behind it", past{limit: 1, match: step(10000)}, nil, 20000},
		{"all there is", past{limit: 2, before: d.id(1600), match: step(5)}, []int{5}, 1600},
		{"one, by its step", past{limit: 1, only: d.id(7), match: step(7)}, []int{7}, 1},
		{"one of another step", past{limit: 1, only: d.id(7), match: step(8)}, nil, 1},
		{"by what all have", past{limit: 2, match: map[string]json.RawMessage{"source": json.RawMessage(`"update"`)}},
			[]int{30000, 29999}, 1000},
		{"nowhere", past{limit: 1, nowhere: true}, nil, 0},
		{"by no id", past{limit: 1, before: "xyz"}, nil, 0},
	} {
		d.read = 0
		list, err := v.checkpoints(t.Context(), c.p)
		found := make([]int, len(list))
		for i, cp := range list {
			found[i] = cp.Step
		}
		if err != nil || fmt.Sprint(found) != fmt.Sprint(c.found) || d.read != c.read {
			t.Errorf("%s: found %v, want %v; read %d, want %d; %v", c.name, found, c.found, d.read, c.read, err)
		}
	}
	d.fails = store.ErrUnreachable
	for _, p := range []past{{limit: 1}, {limit: 1, before: d.id(3)}, {limit: 1, match: step(3)}} {
		if list, err := v.checkpoints(t.Context(), p); err == nil {
			t.Errorf("%v from a store that fails", list)
		}
	}
	d.fails = store.ErrNotFound // deleted meanwhile
	if list, err := v.history(t.Context(), past{limit: 1}); err != nil || list == nil || len(list) > 0 {
		t.Errorf("of a thread that is gone %v, %v", list, err)
	}
}

// TestTurns: of each run that has ended its last answer tells how long it took, whatever stands between.
func TestTurns(t *testing.T) {
	begun := time.Now().Add(-time.Hour)
	active := store.Run{ID: "active", Status: event.StatusPending}
	v := (&Group{Env: &route.Env{Store: &listed{runs: []store.Run{
		{ID: "unseen", Status: event.StatusSuccess},
		{ID: "long", Status: event.StatusError, CreatedAt: begun,
			UpdatedAt: begun.Add(61*time.Second + 900*time.Millisecond)},
		active,
		{ID: "back", Status: event.StatusSuccess, CreatedAt: begun, UpdatedAt: begun.Add(-time.Second)},
	}}}}).newViewer(store.Thread{ID: "t"})
	human := func(run string) string { return `{"type":"human","additional_kwargs":{"run_id":"` + run + `"}}` }
	const answer = `{"type":"ai","additional_kwargs":{}}`
	values := map[string]json.RawMessage{agent.Messages.Name(): json.RawMessage("[" + strings.Join([]string{
		answer, human("long"), answer, `{"type":"system"}`, `{"type":"tool"}`, answer, `{"type":"ai","run_id":"own"}`,
		human(active.ID), answer, human("back"), `{"type":"ai"}`,
	}, ",") + "]")}
	if err := v.turns(t.Context(), values); err != nil {
		t.Fatal(err)
	}
	want := `[{"run_id":"<absent>"},{"run_id":"<absent>"},{"run_id":"long",
		"additional_kwargs":{"turn_duration":"<absent>"}},{"run_id":"<absent>"},{"run_id":"long"},
		{"run_id":"long","additional_kwargs":{"turn_duration":"<absent>"}},{"run_id":"own","additional_kwargs":{"turn_duration":61}},
		{},{"run_id":"` + active.ID + `","additional_kwargs":{"turn_duration":"<absent>"}},{},{"run_id":"back","additional_kwargs":{"turn_duration":0}}]`
	if why := jsontest.Unlike(jsontest.Decode(t, []byte(want)), jsontest.Decode(t, values["messages"])); why != "" {
		t.Errorf("%s in %s", why, values["messages"])
	}
	alone := map[string]json.RawMessage{agent.Messages.Name(): json.RawMessage("[ " + human("long") + " ]")}
	if err := v.turns(t.Context(), alone); err != nil || string(alone[agent.Messages.Name()]) != "["+human("long")+"]" {
		t.Errorf("one message: %s, %v", alone, err)
	}
	v.Env = &route.Env{Store: &listed{fails: store.ErrUnreachable}}
	for messages, fails := range map[string]bool{"[" + human("a") + "," + answer + "]": true, "[" + human("a") +
		"]": false, "[]": false, "{}": false} {
		if err := v.turns(t.Context(),
			map[string]json.RawMessage{"messages": json.RawMessage(messages)}); (err != nil) != fails {
			t.Errorf("%s: %v", messages, err)
		}
	}
}

// listed is a store of some runs.
type listed struct {
	store.Store
	store.UserData

	runs  []store.Run
	fails error
}

func (l *listed) For(access.User) store.UserData { return l }

func (l *listed) ListRuns(context.Context, store.RunFilter) ([]store.Run, error) {
	return l.runs, l.fails
}
