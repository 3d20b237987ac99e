package state

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// States that branch off one another share arrays and the index of their ids; each must still see its own items only.
func TestLogBranchesKeepApart(t *testing.T) {
	log := Log("log", func(s string) string { return s[:1] })
	rapid.Check(t, func(t *rapid.T) {
		states, want := []State{{}}, [][]string{nil}
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			from := rapid.IntRange(0, len(states)-1).Draw(t, "from")
			item := fmt.Sprintf("%c%d", 'a'+rune(rapid.IntRange(0, 7).Draw(t, "id")), step)
			model := slices.Clone(want[from])
			i := slices.IndexFunc(model, func(s string) bool { return s[:1] == item[:1] })
			var u Update
			switch op := rapid.IntRange(0, 4).Draw(t, "op"); {
			case op == 0 && i >= 0:
				u, model = log.Remove(item[:1]), slices.Delete(model, i, i+1)
			case op == 1:
				u, model = log.Reset(item), []string{item}
			case i >= 0:
				u, model[i] = log.Append(item), item
			default:
				u, model = log.Append(item), append(model, item)
			}
			next, _, err := states[from].Apply(u)
			if err != nil {
				t.Fatal(err)
			}
			states, want = append(states, next), append(want, model)
		}
		for i := range states {
			if got := log.Get(states[i]); !slices.Equal(got, want[i]) {
				t.Fatalf("state %d is %v, want %v", i, got, want[i])
			}
		}
	})
}

// BenchmarkLogAppend appends to a log of 10,000 items: the time must not depend on its length.
func BenchmarkLogAppend(b *testing.B) {
	log := Log("log", func(s string) string { return s })
	var items []string
	for i := range 10_000 {
		items = append(items, fmt.Sprint("item ", i))
	}
	s, _, _ := State{}.Apply(log.Append(items...))
	b.ResetTimer()
	for i := range b.N {
		s, _, _ = s.Apply(log.Append(fmt.Sprint("more ", i)))
	}
}
