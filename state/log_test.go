package state

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// model is the reference: a plain list, copied by every operation.
type model []item

func (m model) find(id string) int {
	return slices.IndexFunc(m, func(i item) bool { return i.ID == id })
}

func (m model) add(items []item, mayAdd bool) (model, bool) {
	m = slices.Clone(m)
	for _, it := range items {
		if i := m.find(it.ID); i >= 0 {
			m[i] = it
		} else if mayAdd {
			m = append(m, it)
		} else {
			return nil, false
		}
	}
	return m, true
}

func (m model) remove(ids []string) (model, bool) {
	m = slices.Clone(m)
	for _, id := range ids {
		i := m.find(id)
		if i < 0 {
			return nil, false
		}
		m = slices.Delete(m, i, i+1)
	}
	return m, true
}

var genItem = rapid.Custom(func(t *rapid.T) item {
	return item{ID: fmt.Sprint("i", rapid.IntRange(0, 12).Draw(t, "id")), Text: rapid.StringN(0, 3, -1).Draw(t, "text")}
})

// step draws an update and what the reference makes of it; false if it must be refused.
func (m model) step(t *rapid.T) (Update, model, bool) {
	items := rapid.SliceOfN(genItem, 0, 4).Draw(t, "items")
	switch rapid.SampledFrom([]Op{OpAppend, OpAppend, OpAppend, OpReplace, OpRemove, OpReset}).Draw(t, "op") {
	case OpReplace:
		next, ok := m.add(items, false)
		return logCh.Replace(items...), next, ok
	case OpRemove:
		ids := make([]string, len(items))
		for i, it := range items {
			ids[i] = it.ID
		}
		next, ok := m.remove(ids)
		return logCh.Remove(ids...), next, ok
	case OpReset:
		next, _ := model(nil).add(items, true)
		return logCh.Reset(items...), next, true
	}
	next, _ := m.add(items, true)
	return logCh.Append(items...), next, true
}

// TestLogEqualsReference applies random updates to random earlier states and compares all states at the end: no
// state may change because of what grew out of it. Some states go through their stored forms on the way.
func TestLogEqualsReference(t *testing.T) {
	sch := all(t)
	rapid.Check(t, func(t *rapid.T) {
		states, models := []State{{}}, []model{nil}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			from := len(states) - 1
			if rapid.IntRange(0, 3).Draw(t, "fork") == 0 {
				from = rapid.IntRange(0, from).Draw(t, "from")
			}
			u, want, ok := models[from].step(t)
			if rapid.Bool().Draw(t, "second write") {
				if u2, want2, ok2 := want.step(t); ok {
					u, want, ok = u.With(u2), want2, ok2
				}
			}
			if rapid.Bool().Draw(t, "stored update") {
				var err error
				if u, err = sch.DecodeUpdate(encodeUpdate(t, u)); err != nil {
					t.Fatal(err)
				}
			}
			next, _, err := states[from].Apply(u)
			if (err == nil) != ok || err != nil && !errors.Is(err, ErrNoItem) {
				t.Fatalf("error %v, reference accepts: %v", err, ok)
			}
			if !ok {
				continue
			}
			if rapid.IntRange(0, 4).Draw(t, "stored state") == 0 {
				if next, err = sch.LoadSnapshot(snapshot(t, next)); err != nil {
					t.Fatal(err)
				}
			}
			states, models = append(states, next), append(models, want)
		}
		for i, s := range states {
			if d := cmp.Diff([]item(models[i]), logCh.Get(s), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("state %d (-want +got)\n%s", i, d)
			}
			reread, err := sch.LoadSnapshot(snapshot(t, s))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]item(models[i]), logCh.Get(reread), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("snapshot of state %d (-want +got)\n%s", i, d)
			}
		}
	})
}

func TestAppendToWhatGetReturnedHarmsNoState(t *testing.T) {
	base := apply(t, State{}, logCh.Append(item{ID: "a"}, item{ID: "b"}, item{ID: "c"}, item{ID: "d"}, item{ID: "e"}))
	mine := append(logCh.Get(base), item{ID: "mine"})
	next := apply(t, base, logCh.Append(item{ID: "next"}))
	_ = append(logCh.Get(base), item{ID: "later"})
	if got := logCh.Get(next)[5].ID; got != "next" {
		t.Errorf("the next state has %q", got)
	}
	if mine[5].ID != "mine" {
		t.Errorf("the caller's slice has %q", mine[5].ID)
	}
}

func TestFailedUpdateChangesNothing(t *testing.T) {
	s := apply(t, State{}, logCh.Append(item{ID: "a"}).With(titleCh.Put("t")))
	before := values(t, s)
	bad := logCh.Append(item{ID: "b"}).With(titleCh.Put("u"), logCh.Replace(item{ID: "zzz"}))
	got, changed, err := s.Apply(bad)
	if !errors.Is(err, ErrNoItem) || !strings.Contains(err.Error(), `channel "log"`) || changed != nil {
		t.Errorf("error %v, changed %v", err, changed)
	}
	diff(t, "the state", before, values(t, s))
	diff(t, "the returned state", before, values(t, got))
	s = apply(t, s, logCh.Append(item{ID: "c"})) // the failed update had claimed the room
	diff(t, "the log", []item{{ID: "a"}, {ID: "c"}}, logCh.Get(s))
}

func TestLogErrors(t *testing.T) {
	s := apply(t, State{}, logCh.Append(item{ID: "a"}))
	for want, u := range map[string]Update{
		`item 1 of the update has no id`: logCh.Append(item{ID: "b"}, item{}),
		`replace "b": no such item`:      logCh.Replace(item{ID: "b"}),
		`remove "b": no such item`:       logCh.Remove("b"),
		`remove "a": no such item`:       logCh.Remove("a", "a"),
	} {
		_, _, err := s.Apply(u)
		wantErr(t, err, want)
		wantErr(t, err, `channel "log"`)
	}
}

func TestResetRepairsALogThatCannotBeRead(t *testing.T) {
	s := load(t, all(t), `{"log":[1]}`)
	_, _, err := s.Apply(logCh.Append(item{ID: "a"}))
	wantErr(t, err, `channel "log": item 0`)
	s = apply(t, s, logCh.Reset(item{ID: "a"}))
	diff(t, "the log", []item{{ID: "a"}}, logCh.Get(s))
}

// TestConcurrentUse is for the race detector: one state read and forked by many.
func TestConcurrentUse(t *testing.T) {
	base, err := all(t).
		LoadSnapshot(snapshot(t,
			apply(t, State{}, logCh.Append(item{ID: "a"}, item{ID: "b"}).With(sumCh.Put(1), titleCh.Put("t")))))
	if err != nil {
		t.Fatal(err)
	}
	undeclared, err := Schema{}.LoadSnapshot(snapshot(t, base))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			mine := []State{base, undeclared}[g%2]
			for i := range 50 {
				next, _, err := mine.Apply(logCh.Append(item{ID: fmt.Sprint(g, "-", i)}).With(sumCh.Put(1)))
				if err != nil {
					t.Error(err)
					return
				}
				mine = next
				if _, err := base.Values(); err != nil || len(logCh.Get(base)) != 2 || len(logCh.Get(mine)) != 3+i ||
					titleCh.Get(base) != "t" {
					t.Errorf("goroutine %d, step %d: %v", g, i, err)
					return
				}
			}
			for i, it := range logCh.Get(mine)[2:] {
				if it.ID != fmt.Sprint(g, "-", i) {
					t.Errorf("goroutine %d has %q at %d", g, it.ID, i)
				}
			}
		})
	}
	wg.Wait()
}

// TestAppendingCostsWhatIsAppended: what the log held before is neither copied nor indexed again.
func TestAppendingCostsWhatIsAppended(t *testing.T) {
	const held, more = 5_000, 100
	var items []item
	for i := range held {
		items = append(items, item{ID: fmt.Sprint(i)})
	}
	s := apply(t, State{}, logCh.Append(items...))
	s = apply(t, s, logCh.Append(item{ID: "first"})) // may make room
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range more {
		s = apply(t, s, logCh.Append(item{ID: fmt.Sprint("more", i)}))
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / more
	if len(logCh.Get(s)) != held+1+more || each > 2*held { // all of it is many times as much
		t.Errorf("each takes %d bytes", each)
	}
}

func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("x", 700)
	for _, n := range []int{200, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			items := make([]item, n)
			for i := range items {
				items[i] = item{ID: fmt.Sprint("old", i), Text: text}
			}
			base := apply(b, State{}, logCh.Append(items...))
			b.ReportAllocs()
			s, i := base, 0
			for b.Loop() {
				if i++; i%n == 0 { // start over at twice the size
					b.StopTimer()
					s = apply(b, State{}, logCh.Append(items...))
					b.StartTimer()
				}
				u := logCh.Append(item{ID: fmt.Sprint("new", i), Text: text})
				if _, err := u.AppendJSON(nil); err != nil {
					b.Fatal(err)
				}
				s = apply(b, s, u)
			}
		})
	}
}
