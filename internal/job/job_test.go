package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

func TestJobs(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), pgtest.Kept())
	databases.Run(t, feature.All(), []databases.Case{
		{Name: "done", Test: isDone},
		{Name: "asked for again", Test: askedAgain},
		{Name: "pushed back, but not for ever", Test: pushedBack},
		{Name: "asked for while it runs", Test: askedWhileItRuns},
		{Name: "given up, and begun afresh", Test: givenUp},
		{Name: "fails and fails and succeeds", Test: triesAreReset},
		{Name: "not yet", Test: notYet},
		{Name: "taken away", Test: takenAway},
		{Name: "effect", Test: effect},
		{Name: "decided anew", Test: decidedAnew},
		{Name: "its failure cannot be written", Test: failureUnwritten},
		{Name: "left by a process that is gone", Test: leftBehind},
		{Name: "ends its process each time", Test: endsItsProcess},
		{Name: "stopped with its process", Test: stoppedWithItsProcess},
		{Name: "lease lost", Test: leaseLost},
		{Name: "slots, and many that fail", Test: manyThatFail},
		{Name: "tried again before a new one is due", Test: againBeforeNew},
		{Name: "queue full", Test: queueFull},
		{Name: "again and again", Test: againAndAgain},
		{Name: "of two users", Test: ofTwoUsers},
		{Name: "two processes", Test: twoProcesses},
		{Name: "dumped, and deleted with its user", Test: dumpedAndDeleted},
	})
}

// kit is a store in which steps of a run ask for jobs, and a runner that does them.
type kit struct {
	*databases.Fixture

	faults atomic.Int64 // how many of the next ends of jobs cannot be written

	mu    sync.Mutex
	clock time.Time
	did   []string // what was done, in order
	said  []string // outcomes
}

// start is the first time of the clock, later than that of the machine, which operators act by.
var start = time.UnixMicro(1_900_000_000_000_000)

func newKit(f *databases.Fixture) *kit { return &kit{Fixture: f, clock: start} }

func (k *kit) now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clock
}

func (k *kit) pass(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clock = k.clock.Add(d)
}

// ask has a step of a run of the user ask for jobs.
func (k *kit) ask(u access.User, jobs ...store.NewJob) {
	k.Helper()
	id := fmt.Sprintf("r%d", seq.Add(1))
	_, err := k.For(u).Admit(k.Context(), store.Admission{
		Thread: store.Thread{ID: "thread of " + id}, Run: store.Run{ID: id, ThreadID: "thread of " + id, Owner: "me",
			CreatedAt: k.now()}})
	k.Must(err)
	_, err = k.System().Commit(k.Context(), store.Fence{RunID: id, Attempt: 1}, store.Step{Jobs: jobs, Now: k.now()})
	k.Must(err)
}

var seq atomic.Int64

// faulty is a store that fails, for no reason that passes by itself as far as it says, to write ends of jobs.
type faulty struct {
	database.Store

	left *atomic.Int64
}

func (f faulty) Across(ctx context.Context, do func(database.Joint) error) error {
	if f.left.Add(-1) >= 0 {
		return errors.New("the disk has a bad day")
	}
	return f.Store.Across(ctx, do)
}

// runner is a process that does jobs until stop, or the end of the test.
func (k *kit) runner(owner string, kinds ...job.Kind) (r *job.Runner, stop func()) {
	r = job.New(job.Config{
		Store: faulty{k.Store, &k.faults}, Owner: owner, Kinds: kinds, Now: k.now, Lease: time.Second,
		Observe: func(kind, outcome string) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.said = append(k.said, outcome)
		},
		Spread: func(d time.Duration) time.Duration { return d },
	})
	_, err := k.System().Renew(k.Context(), owner)
	k.Must(err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(k.Context()))
	var done sync.WaitGroup
	done.Go(func() { r.Work(ctx) })
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	k.Cleanup(stop)
	return r, stop
}

// notes is a kind that notes what it does.
func (k *kit) notes(do func(ctx context.Context, j job.Job) error) job.Kind {
	return job.Kind{Name: "note", Slots: 4, Tries: 3, Wait: time.Second,
		Run: func(ctx context.Context, j job.Job) (func(job.Tx) error, error) {
			k.mu.Lock()
			k.did = append(k.did, fmt.Sprintf("%s %s %d", j.Key, j.Body, j.Attempt))
			k.mu.Unlock()
			if do == nil {
				return nil, nil
			}
			return nil, do(ctx, j)
		}}
}

func (k *kit) done() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.did)
}

func (k *kit) outcomes() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.said, " ")
}

func (k *kit) until(what string, ok func() bool) {
	k.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			k.Fatalf("%s did not happen; done: %q, outcomes: %s", what, k.done(), k.outcomes())
		}
	}
}

func (k *kit) list() []job.Entry {
	k.Helper()
	list, err := job.NewQueue(k.Store).List(k.Context(), job.Filter{Kind: "note"})
	k.Must(err)
	return list
}

// nudge wakes the runner, which does not know that the clock has moved.
func (k *kit) nudge() { k.ask(k.Bob(), store.NewJob{Kind: "nobody's", Key: "nudge"}) }

func (k *kit) empty() bool { return len(k.list()) == 0 }

func note(key, body string) store.NewJob {
	return store.NewJob{Kind: "note", Key: key, Body: json.RawMessage(body)}
}

func isDone(f *databases.Fixture) {
	k := newKit(f)
	k.runner("me", k.notes(nil))
	k.ask(f.Ann(), note("b", `2`), note("a", `1`))
	k.until("the end of both", k.empty)
	did := k.done()
	slices.Sort(did)
	f.Equal("done", did, []string{"a 1 1", "b 2 1"})
	k.until("both outcomes", func() bool { return k.outcomes() == "done done" }) // told after the row is gone
}

// askedAgain: one that waits and is asked for again is done once, with the last body.
func askedAgain(f *databases.Fixture) {
	k := newKit(f)
	k.ask(f.Ann(), note("a", `1`), note("a", `2`))
	k.ask(f.Ann(), note("a", `3`))
	f.Equal("jobs", len(k.list()), 1)
	k.runner("me", k.notes(nil))
	k.until("its end", k.empty)
	f.Equal("done", k.done(), []string{"a 3 1"})
}

func pushedBack(f *databases.Fixture) {
	k := newKit(f)
	ask := func(after, most time.Duration) time.Duration {
		j := note("a", `1`)
		j.NotBefore, j.Latest = k.now().Add(after), k.now().Add(most)
		k.ask(f.Ann(), j)
		return k.list()[0].NotBefore.Sub(start)
	}
	f.Equal("first", ask(10*time.Second, 25*time.Second), 10*time.Second)
	k.pass(8 * time.Second)
	f.Equal("pushed back", ask(10*time.Second, 25*time.Second), 18*time.Second)
	k.pass(8 * time.Second)
	f.Equal("not behind the latest time of the first request", ask(10*time.Second, 25*time.Second), 25*time.Second)
	f.Equal("sooner", ask(time.Second, 0), 17*time.Second)
	b := note("b", `1`)
	b.NotBefore = k.now().Add(time.Minute)
	k.ask(f.Ann(), b)
	b.NotBefore = k.now().Add(time.Hour)
	k.ask(f.Ann(), b)
	f.Equal("without a latest time", k.list()[1].NotBefore.Equal(k.now().Add(time.Minute)), true)
}

func askedWhileItRuns(f *databases.Fixture) {
	k := newKit(f)
	begun, free := make(chan string, 2), make(chan struct{})
	var ids []string
	k.runner("me", k.notes(func(_ context.Context, j job.Job) error {
		ids = append(ids, j.ID())
		begun <- ""
		<-free
		return nil
	}))
	k.ask(f.Ann(), note("a", `1`))
	<-begun
	k.ask(f.Ann(), note("a", `2`))
	k.ask(f.Ann(), note("a", `3`))
	f.Equal("one row, begun", k.list()[0].Begun, true)
	close(free)
	k.until("its end", k.empty)
	f.Equal("done", k.done(), []string{"a 1 1", "a 3 1"})
	f.Equal("each turn has an id of its own", ids[0] != ids[1], true)
}

func givenUp(f *databases.Fixture) {
	k := newKit(f)
	broken := atomic.Bool{}
	broken.Store(true)
	k.runner("me", k.notes(func(context.Context, job.Job) error {
		if broken.Load() {
			return errors.New("no route\x00")
		}
		return nil
	}))
	k.ask(f.Ann(), note("a", `1`))
	for i := range 3 {
		k.until("a try", func() bool { return len(strings.Fields(k.outcomes())) == i+1 })
		k.pass(time.Hour)
		k.nudge()
	}
	f.Equal("outcomes", k.outcomes(), "failed failed dead")
	f.Equal("reason", k.list()[0].Error, "no route\uFFFD")
	f.Equal("dead", k.list()[0].Dead.IsZero(), false)
	broken.Store(false)
	k.ask(f.Ann(), note("a", `2`))
	k.until("its end", k.empty)
	f.Equal("the last try", k.done()[3], "a 2 1")
	broken.Store(true)
	k.ask(f.Ann(), note("a", `3`))
	for i := range 3 {
		k.until("a try", func() bool { return len(strings.Fields(k.outcomes())) == i+5 })
		k.pass(time.Hour)
		k.nudge()
	}
	broken.Store(false)
	n, err := job.NewQueue(f.Store).Retry(f.Context(), "note", "a", "bob")
	f.Must(err)
	f.Equal("another's", n, int64(0))
	if n, err = job.NewQueue(f.Store).Retry(f.Context(), "note", "a", ""); err != nil || n != 1 {
		k.Errorf("%d, %v", n, err)
	}
	k.nudge()
	k.until("its end", k.empty)
}

func triesAreReset(f *databases.Fixture) {
	k := newKit(f)
	var tries atomic.Int64
	k.runner("me", k.notes(func(context.Context, job.Job) error {
		n := tries.Add(1)
		if n < 3 {
			return fmt.Errorf("try %d", n)
		}
		if n == 3 {
			k.ask(f.Ann(), note("a", `2`)) // once more, while it runs
		}
		return nil
	}))
	k.ask(f.Ann(), note("a", `1`))
	for i := range 2 {
		k.until("a failure", func() bool { return strings.Count(k.outcomes(), "failed") == i+1 })
		f.Equal("error", k.list()[0].Error, fmt.Sprintf("try %d", i+1))
		f.Equal("wait", k.list()[0].NotBefore.Sub(k.now()), time.Second<<i)
		k.pass(time.Second << i)
		k.nudge()
	}
	k.until("its end", k.empty)
	f.Equal("the turn after a success", k.done()[3], "a 2 1")
}

func notYet(f *databases.Fixture) {
	k := newKit(f)
	k.runner("me", k.notes(func(_ context.Context, j job.Job) error {
		if waits, err := j.Waits(context.Background(), "note", "a"); err != nil || !waits {
			k.Errorf("it does not see itself wait: %v", err)
		}
		if len(k.done()) < 6 {
			return job.LaterError(0)
		}
		return nil
	}))
	k.ask(f.Ann(), note("a", `1`))
	k.until("its end", k.empty)
	f.Equal("no try counts", k.done()[5], "a 1 1")
}

// takenAway: what was dropped while it ran has no effect, also if it was asked for again since.
func takenAway(f *databases.Fixture) {
	k := newKit(f)
	begun, free := make(chan string, 2), make(chan struct{})
	first := job.Kind{Name: "note", Slots: 1, Run: func(context.Context, job.Job) (func(job.Tx) error, error) {
		begun <- ""
		<-free
		return func(job.Tx) error { k.Error("it has an effect"); return nil }, nil
	}}
	k.runner("me", first)
	k.ask(f.Ann(), note("a", `1`))
	<-begun
	n, err := job.NewQueue(f.Store).Drop(f.Context(), "note", "a", "")
	f.Must(err)
	f.Equal("dropped", n, int64(1))
	k.pass(time.Second)
	later := note("a", `2`)
	later.NotBefore = k.now().Add(time.Hour)
	k.ask(f.Ann(), later)
	close(free)
	k.until("the end", func() bool { return k.outcomes() == "gone" })
	f.Equal("the new one", len(k.list()), 1)
}

// effect: what a job writes for its user is there when its row is gone, and not if the writing fails.
func effect(f *databases.Fixture) {
	k := newKit(f)
	var fails atomic.Bool
	fails.Store(true)
	k.runner("me", job.Kind{Name: "note", Tries: 1, Run: func(_ context.Context, j job.Job) (func(job.Tx) error,
		error) {
		return func(tx job.Tx) error {
			_, err := tx.Of("folders").Exec("insert", j.Key, "of "+j.User.ID(), "", 1, 1, "")
			if fails.Load() {
				err = errors.Join(err, errors.New("no ink"))
			}
			return err
		}, nil
	}})
	folders := func(u access.User) (n int) {
		f.Must(f.Feature("folders").For(u).
			Read(f.Context(), "list", func(database.Row) (bool, error) { n++; return true, nil }, 10, 0))
		return n
	}
	k.ask(f.Ann(), note("a", `1`))
	k.until("its death", func() bool { return k.outcomes() == "dead" })
	f.Equal("after a failure", folders(f.Ann()), 0)
	fails.Store(false)
	k.ask(f.Ann(), note("a", `1`))
	k.until("its end", k.empty)
	f.Equal("ann's", folders(f.Ann()), 1)
	f.Equal("bob's", folders(f.Bob()), 0)
}

// decidedAnew: what a write was decided by has changed: it is decided again, in the same try, but not for ever.
func decidedAnew(f *databases.Fixture) {
	k := newKit(f)
	var ran, decided, writes atomic.Int64
	var decide job.ChangedError
	decide = func(context.Context) (func(job.Tx) error, error) {
		n := decided.Add(1)
		return func(tx job.Tx) error {
			_, err := tx.Of("folders").Exec("insert", fmt.Sprint("f", n), "", "", 1, 1, "")
			if n < writes.Load() {
				err = decide
			}
			return err
		}, nil
	}
	k.runner("me", job.Kind{Name: "note", Tries: 1, Run: func(ctx context.Context, _ job.Job) (func(job.Tx) error,
		error) {
		ran.Add(1)
		return decide(ctx)
	}})
	writes.Store(3)
	k.ask(f.Ann(), note("a", `1`))
	k.until("its end", k.empty)
	f.Equal("work", ran.Load(), int64(1))
	f.Equal("decisions", decided.Load(), int64(3))
	n := 0
	f.Must(f.Feature("folders").For(f.Ann()).
		Read(f.Context(), "list", func(database.Row) (bool, error) { n++; return true, nil }, 10, 0))
	f.Equal("written", n, 1)
	writes.Store(1 << 40)
	k.ask(f.Ann(), note("b", `1`))
	k.until("its death", func() bool { return strings.HasSuffix(k.outcomes(), "dead") })
	f.Equal("decisions", decided.Load(), int64(3+8))
}

// claimBy has a process claim what waits, and die.
func (k *kit) claimBy(owner string) {
	k.Helper()
	rows := k.Feature("jobs").System()
	k.Must(rows.Write(k.Context(), 0, func(tx database.Tx) error {
		var s [4]string
		var n [3]int64
		var body []byte
		return tx.Scan("claim", []any{&s[0], &s[1], &s[2], &n[0], &n[1], &n[2], &s[3], &body}, "note", owner,
			database.Micros(k.now()))
	}))
}

// failureUnwritten is a job whose success, and then whose failure, cannot be written for another reason than an outage:
// it is not kept from everybody until the process ends.
func failureUnwritten(f *databases.Fixture) {
	k := newKit(f)
	k.faults.Store(2)
	k.runner("me", k.notes(nil))
	k.ask(k.Ann(), note("a", "1"))
	k.until("a failure", func() bool { return k.outcomes() == "failed" })
	k.pass(time.Hour)
	k.nudge()
	k.until("the end", func() bool { return k.empty() && k.outcomes() == "failed done" }) // it is told behind its end
}

func leftBehind(f *databases.Fixture) {
	k := newKit(f)
	k.ask(f.Ann(), note("a", `1`))
	k.claimBy("dead")
	f.Equal("begun", k.list()[0].Begun, true)
	k.runner("me", k.notes(nil))
	k.until("its end", k.empty)
	f.Equal("the second try", k.done(), []string{"a 1 2"})
}

func endsItsProcess(f *databases.Fixture) {
	k := newKit(f)
	k.ask(f.Ann(), note("a", `1`))
	for i := range 3 {
		k.claimBy(fmt.Sprint("dead", i))
		f.Must(f.Feature("jobs").System().Write(f.Context(), 0, func(tx database.Tx) error {
			_, err := tx.Exec("free", "me", int64(1_000_000))
			return err
		}))
	}
	k.runner("me", k.notes(nil))
	k.until("its death", func() bool { return k.outcomes() == "dead" })
	f.Equal("it was not begun again", k.done(), []string(nil))
	f.Equal("reason", strings.Contains(k.list()[0].Error, "the process ended while it was done"), true)
}

func stoppedWithItsProcess(f *databases.Fixture) {
	k := newKit(f)
	begun := make(chan string, 1)
	wait := k.notes(func(ctx context.Context, _ job.Job) error { begun <- ""; <-ctx.Done(); return ctx.Err() })
	_, stop := k.runner("me", wait)
	k.ask(f.Ann(), note("a", `1`))
	<-begun
	stop()
	f.Equal("it waits", k.list()[0].Begun, false)
	k.runner("next", k.notes(nil))
	k.until("its end", k.empty)
	f.Equal("the try did not count", k.done(), []string{"a 1 1", "a 1 1"})
}

func leaseLost(f *databases.Fixture) {
	k := newKit(f)
	begun := make(chan string, 9)
	r, _ := k.runner("me", k.notes(func(ctx context.Context, _ job.Job) error {
		begun <- ""
		if len(k.done()) == 1 {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	}))
	k.ask(f.Ann(), note("a", `1`))
	<-begun
	r.LeaseLost(store.ErrFenced)
	k.until("its end", k.empty)
	k.until("both outcomes", func() bool { return k.outcomes() == "stopped done" }) // told after the row is gone
}

// manyThatFail take their slots, and a new one is done before those that have failed are tried again.
func manyThatFail(f *databases.Fixture) {
	k := newKit(f)
	var jobs []store.NewJob
	for i := range 500 {
		jobs = append(jobs, note(fmt.Sprintf("bad %03d", i), `1`))
	}
	k.ask(f.Ann(), jobs...)
	var under, most atomic.Int64
	asked := make(chan struct{})
	kind := k.notes(func(_ context.Context, j job.Job) error {
		most.Store(max(most.Load(), under.Add(1)))
		defer under.Add(-1)
		if strings.HasPrefix(j.Key, "bad") {
			if j.Attempt > 1 {
				<-asked
			}
			return errors.New("no route")
		}
		return nil
	})
	kind.Tries = 100
	k.runner("me", kind)
	k.until("a failure of each", func() bool { return strings.Count(k.outcomes(), "failed") >= 500 })
	k.pass(time.Hour) // all are due again
	before := len(k.done())
	k.ask(f.Ann(), note("good", `1`))
	close(asked)
	k.until("the new one", func() bool { return strings.Contains(k.outcomes(), "done") })
	if at := slices.Index(k.done(), "good 1 1"); at < 0 || at > before+20 {
		k.Errorf("it came after %d others", at-before)
	}
	f.Equal("side by side", most.Load() <= 4, true)
}

// againBeforeNew: that a job which was never tried waits for longer keeps no other one of its kind waiting.
func againBeforeNew(f *databases.Fixture) {
	k := newKit(f)
	k.runner("me", k.notes(func(_ context.Context, j job.Job) error {
		if j.Attempt == 1 {
			return errors.New("not today")
		}
		return nil
	}))
	k.ask(f.Ann(), note("a", `1`))
	k.until("a failure", func() bool { return k.outcomes() == "failed" })
	later := note("b", `1`)
	later.NotBefore = k.now().Add(time.Hour)
	k.ask(f.Ann(), later)
	k.pass(time.Minute)
	k.nudge()
	k.until("its end", func() bool { return k.outcomes() == "failed done" })
}

func queueFull(f *databases.Fixture) {
	k := newKit(f)
	var jobs []store.NewJob
	for i := range job.MaxWaiting + 2 {
		jobs = append(jobs, note(fmt.Sprint(i), `1`))
	}
	k.ask(f.Ann(), jobs...)
	k.ask(f.Ann(), note("0", `2`), note("more", `1`), note("", `1`),
		note("large", `"`+strings.Repeat("a", store.MaxJobBody)+`"`))
	k.ask(f.Bob(), note("more", `1`))
	bobs, err := job.NewQueue(f.Store).List(f.Context(), job.Filter{User: "bob"})
	f.Must(err)
	f.Equal("bob's", len(bobs), 1)
	counts, err := job.NewQueue(f.Store).Counts(f.Context())
	f.Must(err)
	f.Equal("all", counts, []job.Count{{Kind: "note", Waiting: job.MaxWaiting + 1, Oldest: k.now().UTC()}})
	f.Equal("left out, and counted", f.Stats().JobsLeftOut, int64(5))
}

func againAndAgain(f *databases.Fixture) {
	k := newKit(f)
	kind := k.notes(func(context.Context, job.Job) error {
		if len(k.done()) < 6 {
			return errors.New("not today")
		}
		return nil
	})
	kind.Every = time.Hour
	k.runner("me", kind)
	k.until("its row", func() bool { return len(k.list()) == 1 })
	f.Equal("first", k.list()[0].NotBefore.Equal(k.now().Add(time.Hour)), true)
	for i := range 7 {
		k.pass(2 * time.Hour)
		k.nudge()
		k.until("a turn", func() bool { return len(strings.Fields(k.outcomes())) == i+1 })
	}
	f.Equal("outcomes", k.outcomes(), strings.Repeat("failed ", 5)+"done done")
}

func ofTwoUsers(f *databases.Fixture) {
	k := newKit(f)
	k.ask(f.Ann(), note("a", `1`))
	k.ask(f.Bob(), note("a", `2`))
	var users sync.Map
	k.runner("me", k.notes(func(_ context.Context, j job.Job) error { users.Store(j.User, j.Thread); return nil }))
	k.until("the end of both", k.empty)
	for _, u := range []access.User{f.Ann(), f.Bob()} {
		if thread, ok := users.Load(u); !ok || thread == "" {
			k.Errorf("%s: %v", u.ID(), thread)
		}
	}
}

// twoProcesses do each job once.
func twoProcesses(f *databases.Fixture) {
	k := newKit(f)
	slow := k.notes(func(context.Context, job.Job) error { time.Sleep(time.Millisecond); return nil })
	k.runner("one", slow)
	if st := f.Another(); st != nil {
		second := &kit{Fixture: &databases.Fixture{T: k.T, Store: st}, clock: k.clock}
		second.runner("two", slow)
	}
	for i := range 50 {
		k.ask(f.Ann(), note(fmt.Sprint(i), `1`))
	}
	k.until("the end of all", k.empty)
	did := k.done()
	slices.Sort(did)
	f.Equal("each once", len(slices.Compact(did)), 50)
	f.Equal("none twice", len(k.done()), 50)
}

func dumpedAndDeleted(f *databases.Fixture) {
	k := newKit(f)
	k.ask(f.Ann(), note("a", `{"n":1}`))
	k.ask(f.Bob(), note("a", `2`))
	var b strings.Builder
	h, err := f.System().Dump(f.Context(), &b)
	f.Must(err)
	f.Equal("rows of features", h.Rows, int64(4))
	_, err = f.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("left", len(k.list()), 1)
	f.Equal("records", strings.Count(b.String(), `{"kind":"job",`), 2)
	f.Equal("their kinds", strings.Count(b.String(), `"job_kind":"note"`), 2)
	f.Equal("whose", k.list()[0].User, "bob")
	f.Sound()
}
