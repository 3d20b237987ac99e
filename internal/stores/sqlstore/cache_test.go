package sqlstore

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// fits fails unless the cache keeps its bounds and its books.
func (c *cache) fits(t interface{ Fatalf(string, ...any) }) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var bytes int64
	for el := c.order.Front(); el != nil; el = el.Next() {
		e := el.Value.(*cached)
		if bytes += e.bytes; c.byID[e.id] != el || e.bytes > c.maxBytes/4 {
			t.Fatalf("state %s of %d bytes is out of place", e.id, e.bytes)
		}
	}
	if bytes != c.bytes || bytes > c.maxBytes || len(c.byID) != c.order.Len() || c.order.Len() > c.maxStates {
		t.Fatalf("%d states, %d ids, %d bytes, counted as %d", c.order.Len(), len(c.byID), bytes, c.bytes)
	}
}

// TestCacheIsBounded compares the cache with a list of what was used last.
func TestCacheIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCache(5, 100)
		var want []cached // the last used first
		take := func(i int) cached {
			e := want[i]
			want = append(append([]cached{}, want[:i]...), want[i+1:]...)
			return e
		}
		find := func(id string) int {
			for i, e := range want {
				if e.id == id {
					return i
				}
			}
			return -1
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n := rapid.IntRange(0, 9).Draw(t, "id")
			e := cached{id: fmt.Sprint(n), thread: fmt.Sprint(n % 3),
				bytes: int64(rapid.IntRange(0, 30).Draw(t, "bytes"))}
			i := find(e.id)
			switch rapid.SampledFrom([]string{"put", "put", "get", "get", "forget", "thread"}).Draw(t, "op") {
			case "put":
				if e.bytes > 25 {
					c.put(&e)
					break
				}
				if i >= 0 {
					take(i)
				}
				want = append([]cached{e}, want...)
				c.put(&e)
				var sum int64
				for i, e := range want {
					if sum += e.bytes; sum > 100 || i == 5 {
						want = want[:i]
						break
					}
				}
			case "get":
				if _, ok := c.get(nil, e.id); ok != (i >= 0) {
					t.Fatalf("get %s: %v", e.id, ok)
				}
				if i >= 0 {
					want = append([]cached{take(i)}, want...)
				}
			case "forget":
				if c.forget(e.id); i >= 0 {
					take(i)
				}
			case "thread":
				c.forgetThread(e.thread)
				for i := len(want) - 1; i >= 0; i-- { //nolint:modernize // take shortens want
					if want[i].thread == e.thread {
						take(i)
					}
				}
			}
			c.fits(t)
			var got, ids []string
			for el := c.order.Front(); el != nil; el = el.Next() {
				got = append(got, el.Value.(*cached).id)
			}
			for _, e := range want {
				ids = append(ids, e.id)
			}
			if d := cmp.Diff(ids, got); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// hits fails unless the newest state of the thread is read from the cache, or is not, as want says.
func (tk *talk) hits(sch state.Schema, want bool) {
	tk.tb.Helper()
	th, err := tk.s.Thread(tk.tb.Context(), tk.thread)
	tk.must(err)
	if _, got := tk.s.cache.get(sch, th.Head); got != want {
		tk.tb.Errorf("in the cache: %v, want %v", got, want)
	}
}

func TestCacheFollowsTheHead(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	for range 100 {
		tk.ai(tk.text(1000), true)
		tk.hits(schema, true)
	}
	if n := s.cache.order.Len(); n != 1 {
		t.Errorf("%d states for one thread that only grew", n)
	}
	var onDisk int64
	for _, table := range []string{"length(updates)), 0) FROM log", "bytes), 0) FROM snapshots"} {
		var n int64
		tk.must(s.readers.QueryRow("SELECT COALESCE(sum(" + table).Scan(&n))
		onDisk += n
	}
	if s.cache.bytes < 100*1000 || s.cache.bytes > onDisk {
		t.Errorf("counted as %d bytes, on disk are %d", s.cache.bytes, onDisk)
	}
	s.cache.forgetThread(tk.thread)
	for range 2 {
		_, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, "")
		tk.must(err)
		tk.hits(schema, true)
	}
	tk.hits(state.Schema{}, false)
	tk.end()
	tk.must(s.For(ann()).DeleteThread(t.Context(), tk.thread))
	if n := s.cache.order.Len(); n != 0 {
		t.Errorf("%d states of a thread that was deleted", n)
	}
}

// A state that is still in the cache is not found when the database does not have it.
func TestCacheIsNoProofOfExistence(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	tk.human("hi")
	tk.end()
	reader, err := Open(t.Context(), Config{Features: feature.All(), Dir: dir, ReadOnly: true})
	tk.must(err)
	defer reader.Close()
	c, err := reader.For(ann()).Checkpoint(t.Context(), schema, tk.thread, "")
	tk.must(err)
	if _, err := s.For(ann()).Checkpoint(t.Context(), schema, "another", c.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("checkpoint of another thread: %v", err)
	}
	tk.must(s.For(ann()).DeleteThread(t.Context(), tk.thread))
	if _, err := reader.For(ann()).Checkpoint(t.Context(), schema, tk.thread, c.ID); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("deleted by another process: %v", err)
	}
}

// A refused step must not be remembered.
func TestCacheTakesNoRefusedStep(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	tk.human("hi")
	before := s.cache.bytes
	st := tk.step("model", "end", chats.Append(chat{ID: "x"}))
	st.Events[0].ID.Attempt = 7
	if _, err := s.Commit(t.Context(), store.Fence{RunID: tk.fence.RunID, Attempt: 7}, st); !errors.Is(err,
		store.ErrFenced) {
		t.Fatal(err)
	}
	tk.hits(schema, true)
	if n := s.cache.order.Len(); n != 1 || s.cache.bytes != before {
		t.Errorf("%d states of %d bytes, before %d", n, s.cache.bytes, before)
	}
}

// TestCacheUnderLoad is for the race detector: threads that grow, are read and deleted at once in a small cache.
func TestCacheUnderLoad(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	s.cache = newCache(4, 64<<10)
	var wg sync.WaitGroup
	for i := range 8 {
		tk := newTalk(t, s, uint64(i))
		tk.begin("hello")
		wg.Go(func() {
			for n := range 15 {
				tk.ai(tk.text(500), true)
				c, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, "")
				if err != nil || len(chats.Get(c.State)) != n+1 {
					t.Errorf("thread %d, step %d: %v", i, n, err)
				}
			}
			tk.end()
			if err := s.For(ann()).DeleteThread(t.Context(), tk.thread); i%2 == 0 && err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.cache.fits(t)
}
