package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/message"
)

// thread is a sound history of about n messages that all vendors take.
func thread(n int) []message.Message {
	var msgs []message.Message
	for i := 0; len(msgs) < n; i++ {
		a, b := fmt.Sprintf("A%08d", i), fmt.Sprintf("B%08d", i)
		msgs = append(msgs, human("please look at file "+a), ai("I look.", a+":read_file", b+":bash"),
			result(a, "read_file", strings.Repeat("line of text\n", 50)), result(b, "bash", "ok"), ai("It says so."))
	}
	return append(msgs, human("thanks"))
}

func TestValidHistoryCostsNothing(t *testing.T) {
	for _, v := range vendors() {
		msgs := thread(200)
		var out []message.Message
		if n := testing.AllocsPerRun(50, func() { out = v.rules.Apply(msgs) }); n != 0 {
			t.Errorf("%s: %v allocations", v.name, n)
		}
		if &out[0] != &msgs[0] || len(out) != len(msgs) {
			t.Errorf("%s: the list was copied", v.name)
		}
	}
}

// TestManyCallsOfOneAnswer: more than are compared each with each, and more than the table on the stack has room for.
func TestManyCallsOfOneAnswer(t *testing.T) {
	for _, n := range []int{20, 600, 3000} {
		var calls []string
		var results []message.Message
		for i := range n {
			id := fmt.Sprint("c", i)
			calls, results = append(calls, id+":sh"), append(results, result(id, "sh", "x"))
		}
		msgs := append([]message.Message{ai("", calls...)}, results...)
		for _, r := range []*Rules{{}, {UniqueIDs: true}} {
			if out := r.Apply(msgs); &out[0] != &msgs[0] {
				t.Errorf("%d calls, %+v: the list was copied", n, r)
			}
			twice := append([]message.Message{ai("", append(calls[1:n:n], calls[n-1])...)},
				append(results[1:n:n], results[n-1])...)
			if r.valid(twice) {
				t.Errorf("%d calls, %+v: an id stands twice, and nobody noticed", n, r)
			}
		}
	}
}

// TestHostileHistoriesAreLinear would take minutes if a result, an id or a text looked at all the others.
func TestHostileHistoriesAreLinear(t *testing.T) {
	const n = 10_000
	same, orphans, chatter := make([]message.Message, 0, 2*n), []message.Message{}, []message.Message{}
	for range n {
		same = append(same, ai("", "a:sh"))
		orphans = append(orphans, result("z", "sh", "x"))
		chatter = append(chatter, human("some words that somebody says"))
	}
	for range n {
		same = append(same, result("a", "sh", "x"))
	}
	r := Rules{Alternate: true, UniqueIDs: true, UserFirst: true}
	start := time.Now()
	for name, msgs := range map[string][]message.Message{"one id": same, "orphans": orphans, "chatter": chatter} {
		if out := r.Apply(msgs); len(out) == 0 || !r.valid(out) {
			t.Errorf("%s: %d messages came back", name, len(out))
		}
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

func BenchmarkApply(b *testing.B) {
	valid := thread(200)
	broken := append([]message.Message{result("z", "ls", "an orphan")}, valid...)
	for _, v := range vendors() {
		b.Run(v.name+"/valid", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.rules.Apply(valid)
			}
		})
	}
	b.Run("openai/repaired", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			vendors()[0].rules.Apply(broken)
		}
	})
}
