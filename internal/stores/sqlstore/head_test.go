package sqlstore

import (
	"errors"
	"testing"

	"github.com/pudu-ai/pudu/internal/store"
)

// TestHeadMovedMeanwhile: while a process writes a step, another moves the head of its thread. The step is made again
// on the new head, so that the thread's chain has both.
func TestHeadMovedMeanwhile(t *testing.T) {
	url := pg.Database(t)
	a, b := openWith(t, Config{URL: url}), openWith(t, Config{URL: url})
	defer a.Close()
	defer b.Close()
	tk := newTalk(t, a, 1)
	tk.begin("hello")
	tk.human("first")
	before := tk.state
	other := forkOf(tk.fence, tk.step("model", "model", chats.Append(chat{ID: tk.uuid(), Content: "other"})), "")
	tk.state = before
	own := forkOf(tk.fence, tk.step("model", "model", chats.Append(chat{ID: tk.uuid(), Content: "own"})), "")
	tries := 0
	tk.must(a.commit(t.Context(), func(x *tx, all []*commit) error {
		err := checkFence(x, all)
		if tries++; tries == 1 && err == nil {
			err = b.commit(t.Context(), func(x *tx, all []*commit) error {
				all[0].thread = tk.thread
				return all[0].findHead(x) // without the lock on the run, which the first holds
			}, other)
		}
		return err
	}, own))
	cs, err := a.For(ann()).Checkpoints(t.Context(), tk.thread, "", 10)
	tk.must(err)
	if len(cs) != 3 || cs[0].ID != own.id || cs[0].ParentID != other.id || cs[1].ID != other.id ||
		cs[1].ParentID != cs[2].ID || tries != 2 {
		t.Errorf("after %d tries own %s, other %s: %+v", tries, own.id, other.id, cs)
	}
	if th, err := a.Thread(t.Context(), tk.thread); err != nil || th.Head != own.id {
		t.Errorf("head %q, %v; want %q", th.Head, err, own.id)
	}
}

// TestHeadIsMissing: a thread whose head is nowhere in the log is damaged; one without a head is new.
func TestHeadIsMissing(t *testing.T) {
	for _, tt := range []struct {
		head string
		step int64
		want error
	}{{"", -1, nil}, {"1-1", 0, nil}, {"1-1", -1, store.ErrCorrupt}} {
		c := &commit{head: tt.head, thread: "t", base: parent{step: tt.step}}
		if err := c.checkHead(); !errors.Is(err, tt.want) {
			t.Errorf("head %q, step %d: %v", tt.head, tt.step, err)
		}
	}
}
