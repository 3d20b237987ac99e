package news_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestNews(t *testing.T) {
	databases.Run(t, []database.Feature{news.Feature()}, []databases.Case{
		{Name: "states", Test: testStates},
		{Name: "away", Test: testAway},
		{Name: "others", Test: testOthers},
		{Name: "clock", Test: testClock},
		{Name: "resets", Test: testResets},
		{Name: "many", Test: testMany},
		{Name: "two processes", Test: testTwoProcesses},
		{Name: "readers", Test: testReaders},
		{Name: "notice", Test: testNotice},
		{Name: "counts", Test: testCounts},
		{Name: "user deleted", Test: testUserDeleted},
	})
}

type fixture struct {
	*databases.Fixture

	hub *news.Hub
	now time.Time
	n   int
}

// opened is a store with a hub that works.
func opened(f *databases.Fixture) *fixture {
	x := &fixture{Fixture: f, now: time.Now().UTC().Truncate(time.Microsecond)}
	x.hub = working(f, f.Store)
	return x
}

func working(f *databases.Fixture, st database.Store) *news.Hub {
	hub := news.NewHub(news.Config{Store: st, Shared: f.Shared()})
	ctx, stop := context.WithCancel(context.WithoutCancel(f.Context()))
	var done sync.WaitGroup
	done.Go(func() { hub.Work(ctx) })
	f.Cleanup(func() { stop(); done.Wait() })
	return hub
}

func (x *fixture) mine() *news.Mine { return x.hub.For(x.Ann()) }

// admit starts a run on a thread.
func (x *fixture) admit(thread string) store.Fence {
	x.Helper()
	x.n++
	id := fmt.Sprintf("run-%d", x.n)
	now := time.Now()
	run, err := x.For(x.Ann()).Admit(x.Context(), store.Admission{
		Run:    store.Run{ID: id, ThreadID: thread, Owner: "me", CreatedAt: now, UpdatedAt: now},
		Thread: store.Thread{ID: thread, Title: "about " + thread, CreatedAt: now, UpdatedAt: now},
	})
	x.Must(err)
	return store.Fence{RunID: id, Attempt: run.Attempt}
}

// end ends it.
func (x *fixture) end(f store.Fence, change store.RunChange) {
	x.Helper()
	// As runs do that are quick: the end is committed with the step before it.
	_, err := x.System().CommitAll(x.Context(), f, []store.Step{{Now: time.Now()}, {Run: &change, Now: time.Now()}})
	x.Must(err)
}

// states are the threads with their states, the newest last.
func (x *fixture) states() (out []string) {
	x.Helper()
	list, err := x.mine().Newest(x.Context(), 100)
	x.Must(err)
	for _, c := range list {
		if c.Gone {
			c.State = "gone"
		}
		out = append(out, c.Thread+" "+c.State)
	}
	return out
}

func testStates(f *databases.Fixture) {
	x := opened(f)
	a := x.admit("a")
	x.Equal("begun", x.states(), []string{"a running"})
	x.end(a, store.RunChange{Status: event.StatusSuccess})
	x.Equal("answered", x.states(), []string{"a answered"})
	x.Must(x.mine().MarkRead(x.Context(), "a", x.now))
	x.Equal("read", x.states(), []string{"a "})
	x.end(x.admit("b"), store.RunChange{Status: event.StatusSuccess, Asks: true})
	x.end(x.admit("c"), store.RunChange{Status: event.StatusInterrupted})
	x.end(x.admit("d"), store.RunChange{Status: event.StatusError, Error: "broken"})
	x.end(x.admit("e"), store.RunChange{Status: event.StatusInterrupted, StopReason: store.Cancelled})
	x.Equal("ends", x.states(), []string{"a ", "b waiting", "c waiting", "d failed", "e "})
	counts, err := x.mine().Counts(x.Context())
	x.Must(err)
	x.Equal("counts", counts, news.Counts{Waiting: 2, Failed: 1})
	x.Must(x.mine().MarkRead(x.Context(), "b", x.now))
	x.Must(x.mine().MarkRead(x.Context(), "d", x.now))
	x.Equal("who waits goes on to wait", x.states(), []string{"a ", "c waiting", "e ", "b waiting", "d "})
	x.Must(x.For(x.Ann()).DeleteThread(x.Context(), "e"))
	_, err = x.For(x.Ann()).PatchThread(x.Context(), "c", store.ThreadPatch{Title: new("renamed")})
	x.Must(err)
	x.Equal("gone and renamed", x.states(), []string{"a ", "b waiting", "d ", "e gone", "c waiting"})
	list, err := x.mine().Newest(x.Context(), 1)
	x.Must(err)
	x.Equal("the last", []string{list[0].Thread, list[0].Title}, []string{"c", "renamed"})
	x.Want(x.mine().MarkRead(x.Context(), "e", x.now), store.ErrNotFound, "")
	for _, id := range []string{"a", "e", "none", "c"} {
		x.Must(x.mine().Touch(x.Context(), id, x.now))
	}
	x.Equal("touched", x.states(), []string{"b waiting", "d ", "e gone", "a ", "c waiting"})
	x.Must(x.For(x.Ann()).CreateThread(x.Context(), store.Thread{ID: "e", CreatedAt: x.now, UpdatedAt: x.now}))
	x.Equal("made again", x.states()[4], "e ")
	for what, p := range map[string]store.ThreadPatch{"c gone": {Set: store.Trashed}, "d ": {Set: store.Archived}} {
		_, err = x.For(x.Ann()).PatchThread(x.Context(), what[:1], p)
		x.Must(err)
		x.Equal("marked", x.states()[4], what)
	}
	counts, err = x.mine().Counts(x.Context())
	x.Must(err)
	x.Equal("counts without the bin", counts, news.Counts{Waiting: 1})
	_, err = x.For(x.Ann()).PatchThread(x.Context(), "c", store.ThreadPatch{Clear: store.Trashed})
	x.Must(err)
	x.Equal("restored as it was", x.states()[4], "c waiting")
	x.end(x.admit("a"), store.RunChange{Status: event.StatusSuccess})
	for _, p := range []store.ThreadPatch{{Set: store.Trashed}, {Clear: store.Trashed}} {
		_, err = x.For(x.Ann()).PatchThread(x.Context(), "a", p)
		x.Must(err)
	}
	x.Equal("an answer that was not read is there again", x.states()[4], "a answered")
	x.admit("b") // runs on, and is stopped
	_, err = x.For(x.Ann()).PatchThread(x.Context(), "d", store.ThreadPatch{Set: store.Trashed})
	x.Must(err)
	counts, err = x.mine().Counts(x.Context())
	x.Must(err)
	x.Equal("counts with the restored", counts, news.Counts{Waiting: 1, Answered: 1, Running: 1})
	x.Sound()
}

// stream collects what a reader is shown.
type stream struct {
	shown chan news.Look
	stop  context.CancelFunc
	done  chan error
	last  int64
}

func (x *fixture) follow(m *news.Mine, after int64) *stream {
	ctx, stop := context.WithCancel(x.Context())
	s := &stream{shown: make(chan news.Look, 1000), stop: stop, done: make(chan error, 1)}
	go func() {
		s.done <- m.Follow(ctx, after, func(l news.Look) error { s.shown <- l; return nil })
	}()
	x.Cleanup(stop)
	return s
}

// next are the changes of what is shown next that has some.
func (s *stream) next(x *fixture) (out []string) {
	x.Helper()
	for {
		select {
		case l := <-s.shown:
			for _, c := range l.Changes {
				state := c.State
				if c.Gone {
					state = "gone"
				}
				out = append(out, c.Thread+" "+state)
				s.last = max(s.last, c.Number)
			}
			if len(out) > 0 {
				return out
			}
		case <-time.After(20 * time.Second):
			x.Fatal("nothing is shown")
		}
	}
}

// until reads until a thread has a state.
func (s *stream) until(x *fixture, want string) {
	x.Helper()
	for !slices.Contains(s.next(x), want) {
	}
}

// end ends the stream and returns what was seen last.
func (s *stream) end(x *fixture) int64 {
	x.Helper()
	s.stop()
	if err := <-s.done; !errors.Is(err, context.Canceled) {
		x.Errorf("the stream ended with %v", err)
	}
	return s.last
}

// testAway: what happens while a reader is away it is shown when it comes back, whatever was changed.
func testAway(f *databases.Fixture) {
	x := opened(f)
	data := x.For(x.Ann())
	for _, id := range []string{"a", "b", "c", "d"} {
		x.Must(data.CreateThread(x.Context(), store.Thread{ID: id, CreatedAt: x.now, UpdatedAt: x.now}))
	}
	s := x.follow(x.mine(), 0)
	x.Equal("at first", s.next(x), []string{"a ", "b ", "c ", "d "})
	run := x.admit("a")
	s.until(x, "a running")
	seen := s.end(x)
	for _, c := range []struct {
		want string
		do   func()
	}{
		{"a answered", func() { x.end(run, store.RunChange{Status: event.StatusSuccess}) }},
		{"b gone", func() { x.Must(data.DeleteThread(x.Context(), "b")) }},
		{"c ", func() {
			_, err := data.PatchThread(x.Context(), "c", store.ThreadPatch{Metadata: []byte(`{"k":1}`)})
			x.Must(err)
		}},
		{"e ", func() {
			x.Must(data.CopyThread(x.Context(), "d", "", store.Thread{ID: "e", CreatedAt: x.now, UpdatedAt: x.now}))
		}},
		{"d running", func() { run = x.admit("d") }},
		{"d answered", func() { x.end(run, store.RunChange{Status: event.StatusSuccess}) }},
		{"c ", func() { x.Must(x.mine().MarkRead(x.Context(), "c", x.now)) }},
	} {
		c.do()
		back := x.follow(x.mine(), seen)
		back.until(x, c.want)
		seen = back.end(x)
	}
}

// testOthers: nobody is told of what is another's.
func testOthers(f *databases.Fixture) {
	x := opened(f)
	x.admit("a")
	bob := x.hub.For(x.Bob())
	list, err := bob.Newest(x.Context(), 100)
	x.Must(err)
	x.Equal("of bob", len(list), 0)
	x.Want(bob.MarkRead(x.Context(), "a", x.now), store.ErrNotFound, "")
	_, err = x.hub.For(access.User{}).Newest(x.Context(), 1)
	x.Want(err, access.ErrNoUser, "")
	s := x.follow(bob, 0)
	x.admit("b")
	x.Must(x.For(x.Bob()).CreateThread(x.Context(), store.Thread{ID: "z", CreatedAt: x.now, UpdatedAt: x.now}))
	x.Equal("shown to bob", s.next(x), []string{"z "})
	s.end(x)
}

// testClock: numbers grow whatever the clock does.
func testClock(f *databases.Fixture) {
	x := opened(f)
	x.Must(x.For(x.Ann()).CreateThread(x.Context(), store.Thread{ID: "a", CreatedAt: x.now, UpdatedAt: x.now}))
	x.Must(x.mine().MarkRead(x.Context(), "a", x.now.Add(1000*time.Hour))) // then the clock is set back
	before, err := x.mine().Newest(x.Context(), 1)
	x.Must(err)
	x.Must(x.For(x.Ann()).CreateThread(x.Context(), store.Thread{ID: "b", CreatedAt: x.now, UpdatedAt: x.now}))
	s := x.follow(x.mine(), before[0].Number)
	s.until(x, "b ")
	s.end(x)
}

// testResets: who was away for too long, or comes with the id of another database, begins anew and is told so.
func testResets(f *databases.Fixture) {
	x := opened(f)
	x.Must(x.For(x.Ann()).CreateThread(x.Context(), store.Thread{ID: "a", CreatedAt: x.now, UpdatedAt: x.now}))
	for after, want := range map[int64]string{
		1: news.ResetTooOld, time.Now().Add(time.Hour).UnixMicro(): news.ResetUnknown, 0: "", x.now.Add(-time.Minute).
			UnixMicro(): "",
	} {
		s := x.follow(x.mine(), after)
		l := <-s.shown
		x.Equal(fmt.Sprint("reset after ", after), []any{l.Reset, len(l.Changes), l.Changes[0].Thread},
			[]any{want, 1, "a"})
		s.end(x)
	}
}

// testMany: more changes than are read at once come all, each thread once.
func testMany(f *databases.Fixture) {
	x := opened(f)
	const n = 1203
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			x.Must(x.For(x.Ann()).CreateThread(context.WithoutCancel(x.Context()),
				store.Thread{ID: fmt.Sprintf("t%04d", i), CreatedAt: x.now, UpdatedAt: x.now}))
		})
	}
	all.Wait()
	seen := make(map[string]int)
	s := x.follow(x.mine(), x.now.Add(-time.Hour).UnixMicro())
	for len(seen) < n {
		for _, c := range s.next(x) {
			seen[c]++
		}
	}
	s.end(x)
	for c, times := range seen {
		if times != 1 {
			x.Errorf("%s is shown %d times", c, times)
		}
	}
}

// testTwoProcesses: what another process changes comes too, when the bus tells of it.
func testTwoProcesses(f *databases.Fixture) {
	x := opened(f)
	other := f.Another()
	if other == nil {
		return // on SQLite there is none
	}
	s := x.follow(x.mine(), 0)
	<-s.shown
	x.Must(other.For(x.Ann()).CreateThread(x.Context(), store.Thread{ID: "a", CreatedAt: x.now, UpdatedAt: x.now}))
	x.Must(x.For(x.Ann()).CreateThread(x.Context(), store.Thread{ID: "b", CreatedAt: x.now, UpdatedAt: x.now})) // wakes
	x.Equal("of both", s.next(x), []string{"a ", "b "})
	s.end(x)
}

// testReaders: a user has a bound of streams, and each is let go.
// testCounts: the counts behind the last of many changes come, though no other change follows.
func testCounts(f *databases.Fixture) {
	x := opened(f)
	s := x.follow(x.mine(), 0)
	for i := range 3 {
		x.admit(fmt.Sprint("t", i))
	}
	for last := (news.Counts{}); last.Running < 3; {
		select {
		case l := <-s.shown:
			if l.Counts != nil {
				last = *l.Counts
			}
		case <-time.After(20 * time.Second):
			x.Fatalf("the counts stay %+v", last)
		}
	}
	s.end(x)
}

func testReaders(f *databases.Fixture) {
	x := opened(f)
	var all []*stream
	for range news.MaxReaders {
		s := x.follow(x.mine(), 0)
		<-s.shown
		all = append(all, s)
	}
	x.Want(x.mine().Follow(x.Context(), 0, func(news.Look) error { return nil }), news.ErrReaders, "")
	x.hub.Notice("reloaded")
	for _, s := range all {
		if l := <-s.shown; l.Notice != "reloaded" {
			x.Errorf("%+v", l)
		}
		s.end(x)
	}
	x.Equal("open", x.hub.Open(), int64(0))
	gone := errors.New("gone")
	x.Want(x.mine().Follow(x.Context(), 0, func(news.Look) error { return gone }), gone, "")
}

// testNotice: with a notice comes what nobody has told of, else one that comes every half minute would keep a reader
// from it for good.
func testNotice(f *databases.Fixture) {
	x := opened(f)
	lone := news.NewHub(news.Config{Store: f.Store, Shared: f.Shared()}) // which hears of nothing
	s := x.follow(lone.For(x.Ann()), 0)
	<-s.shown
	x.admit("a")
	lone.Notice("models")
	l := <-s.shown
	if x.Equal("notice", l.Notice, "models"); len(l.Changes) != 1 || l.Changes[0].Thread != "a" {
		x.Errorf("changes: %+v", l.Changes)
	}
	s.end(x)
}

func testUserDeleted(f *databases.Fixture) {
	x := opened(f)
	x.end(x.admit("a"), store.RunChange{Status: event.StatusSuccess})
	_, err := x.System().DeleteUser(x.Context(), x.Ann())
	x.Must(err)
	x.Equal("left", len(x.states()), 0)
}
