package sqlstore

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// shortRun is a run of five tool calls as package runs writes it: it is claimed as it is admitted with its thread, and
// has 17 steps in three commits.
func shortRun(tb testing.TB, s *Store, seed uint64) {
	tk := &talk{tb: tb, s: s, user: "ann", now: time.Now(), rnd: rand.New(rand.NewPCG(seed, 1))}
	tk.thread = fmt.Sprintf("%016x-a-thread", tk.now.UnixNano()) // ids grow, as those of the server do
	tk.fence, tk.n = store.Fence{RunID: fmt.Sprintf("%016x-a-run", tk.now.UnixNano()), Attempt: 1}, 1
	_, err := s.For(ann()).Admit(tb.Context(), store.Admission{
		Thread: store.Thread{ID: tk.thread, UserID: tk.user, CreatedAt: tk.now, UpdatedAt: tk.now},
		Run: store.Run{ID: tk.fence.RunID, ThreadID: tk.thread, UserID: tk.user, Owner: "me",
			Request:   []byte(`{"input":"hello"}`),
			CreatedAt: tk.now, UpdatedAt: tk.now},
		Begin: &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}},
	})
	tk.must(err)
	for i, size := range []int{1, 8, 8} {
		steps := make([]store.Step, size)
		for j := range steps {
			c := chat{ID: tk.uuid(), Type: "ai", Content: "a short answer", CallID: tk.uuid()}
			steps[j] = tk.step("model", "tools", chats.Append(c), event.Message{MessageID: c.ID, First: tk.n})
			steps[j].Now = time.Now()
		}
		if i == 2 {
			steps[size-1].Run = &store.RunChange{Status: event.StatusSuccess, Usage: []byte(`{"input_tokens":7200}`)}
		}
		_, err := s.CommitAll(tb.Context(), tk.fence, steps)
		tk.must(err)
	}
}

// TestWritesGoStraight: nothing that a run on a new thread writes is put into a table of its own first, as SQLite does
// for RETURNING, and for an INSERT whose SELECT looks at the same table. That costs more than the writing itself.
func TestWritesGoStraight(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	shortRun(t, s, 1)
	var texts []string
	err := s.write(t.Context(), 0, func(x *tx) error {
		texts = slices.Collect(maps.Keys(x.k.stmts))
		return nil
	})
	if err != nil || len(texts) < 8 {
		t.Fatal(texts, err)
	}
	for _, text := range texts {
		if n := putAside(t, s, text); n > 1 { // a list of values, such as those of a CHECK, has one
			t.Errorf("rows of %d columns are put aside by %s", n, text)
		}
	}
}

// putAside is how many columns the widest table has that SQLite makes for a text.
func putAside(t *testing.T, s *Store, text string) (columns int) {
	var args []any
	for strings.Contains(text, "$"+strconv.Itoa(len(args)+1)) {
		args = append(args, nil)
	}
	ops := 0
	err := s.read(t.Context(), "EXPLAIN "+text, args, func(r *sql.Rows) (bool, error) {
		var op string
		var p2 int
		var other any
		ops++
		err := r.Scan(&other, &op, &other, &p2, &other, &other, &other, &other)
		if op == "OpenEphemeral" {
			columns = max(columns, p2)
		}
		return true, err
	})
	if err != nil || ops == 0 {
		t.Fatal(text, err)
	}
	return columns
}
