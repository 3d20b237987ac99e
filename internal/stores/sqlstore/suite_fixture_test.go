package sqlstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/state"
)

// opener opens the store at a place, a folder of the test's own, and makes it if it is not there. Opened again after
// Close, it holds the same data.
type opener func(t *testing.T, place string) store.Store

// TestConformance: what a store must do, whatever database stands behind it.
func TestConformance(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), pgtest.Kept()) // tests that go on in parallel have stores open
	t.Run("sqlite", func(t *testing.T) { conforms(t, sqlstore.OpenSQLite) })
	t.Run("postgres", func(t *testing.T) {
		conforms(t, sqlstore.OpenPostgres)
		conformsShared(t, sqlstore.OpenPostgres, sqlstore.OpenShared, sqlstore.TestLease)
	})
}

func conforms(t *testing.T, open opener) {
	tests := []struct {
		name string
		test func(*fixture)
	}{
		{"thread round trip", threadRoundTrip},
		{"thread bad input", threadBadInput},
		{"thread list", threadList},
		{"thread marks", threadMarks},
		{"thread delete", threadDelete},
		{"thread search", threadSearch},
		{"thread search by metadata", threadMetadata},
		{"thread search in pages", threadPages},
		{"thread pinned", threadPinned},
		{"thread status", threadStatus},
		{"thread patch", threadPatch},
		{"thread patch race", patchRace},
		{"thread copy", threadCopy},
		{"thread copy refused", threadCopyRefused},
		{"thread copy race", threadCopyRace},
		{"setting", setting},
		{"setting race", settingRace},
		{"another user's", anothers},
		{"nobody's", nobodys},
		{"run round trip", runRoundTrip},
		{"run admission", runAdmission},
		{"run admission with its thread", runAdmissionWithThread},
		{"run strategies", strategies},
		{"run admission to a thread that must exist", admissionMustExist},
		{"run order", admissionOrder},
		{"run queue full", admissionFull},
		{"run not before", admissionNotBefore},
		{"run key", admissionKey},
		{"run begun by admission", admissionBegin},
		{"run rejected race", rejectRace},
		{"run enqueued race", enqueueRace},
		{"run stopped that waits", stopWaiting},
		{"run stopped that runs", stopRunning},
		{"run stopped that was given back", stopGivenBack},
		{"run stopped at its end", stopRace},
		{"run claimed that waits", claimWaiting},
		{"run waiting", waitingAndPosition},
		{"queue figures", queueFigures},
		{"run delete", runDelete},
		{"run list", runList},
		{"run claim", runClaim},
		{"run claim race", runClaimRace},
		{"tree admission", treeAdmission},
		{"tree steers", treeSteers},
		{"tree keys", treeKeys},
		{"tree goes on", treeGoesOn},
		{"tree fence", treeFence},
		{"tree claim", treeClaim},
		{"tree stop", treeStop},
		{"tree gone", treeGone},
		{"tree commit", treeCommit},
		{"tree dump", treeDump},
		{"steers taken", steersTaken},
		{"steers that become runs", steersBecomeRuns},
		{"steers on an idle thread", steersOfIdle},
		{"steers kept back", steersKeptBack},
		{"steers of a run that is stopped", steersOfStopped},
		{"steers taken back", steersTakenBack},
		{"steers bounded", steersBounded},
		{"steers race", steersRace},
		{"steers dumped", steersDumped},
		{"fence", fenceStopsOldOwner},
		{"fence after end", fenceAfterEnd},
		{"run change", runChange},
		{"run stalled", runStalled},
		{"run without lease", leaseless},
		{"text of any bytes", textOfAnyBytes},
		{"order of bytes", orderOfBytes},
		{"title", titleChange},
		{"checkpoint chain", checkpointChain},
		{"checkpoint without", checkpointWithout},
		{"checkpoint history", checkpointHistory},
		{"checkpoint clock", checkpointClock},
		{"checkpoint branches", branches},
		{"checkpoint of a rollback", rollBack},
		{"checkpoint first of a run", firstCheckpoint},
		{"checkpoint outside of a run", writeOutside},
		{"checkpoint outside of a run, race", writeRace},
		{"state is what was applied", stateIsWhatWasApplied},
		{"state of any steps", stateOfAnySteps},
		{"state as read back", stateAsReadBack},
		{"state unknown channel", stateUnknownChannel},
		{"events after id", eventsAfterID},
		{"events of all kinds", eventsOfAllKinds},
		{"events state filled in", eventsStateFilledIn},
		{"events over attempts", eventsOverAttempts},
		{"step refused", stepRefused},
		{"step large", stepLarge},
		{"step of nothing", stepOfNothing},
		{"steps together", stepsTogether},
		{"many steps together", manyStepsTogether},
		{"steps all or none", stepsAllOrNone},
		{"steps behind an end", stepsBehindAnEnd},
		{"steps on a parent", stepsOnParent},
		{"concurrent commits", concurrentCommits},
		{"concurrent events of one run", concurrentEventsOfOneRun},
		{"bad step harms no other", badStepHarmsNoOther},
		{"context cancelled", contextCancelled},
		{"close", closeRefusesLater},
		{"close under load", closeUnderLoad},
		{"reopen", reopenKeepsAll},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			place := t.TempDir()
			f := newFixture(t, open, place)
			t.Cleanup(func() {
				if err := f.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			tt.test(f)
		})
	}
}

// start is the first time of a test's clock: a whole microsecond, which is what stores keep.
var start = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

// fixture is an open store, and what ann has in it, with helpers that end the test when they fail.
type fixture struct {
	*testing.T
	store.Store
	store.UserData
	deeper
	place string
	open  opener
	now   time.Time
}

// deeper keeps the system's methods behind those of the user, where both have one of a name.
type deeper struct{ store.System }

func newFixture(t *testing.T, open opener, place string) *fixture {
	f := &fixture{T: t, place: place, open: open, now: start}
	f.use(open(t, place))
	return f
}

// use has the fixture work with a store.
func (f *fixture) use(s store.Store) {
	f.Store = s
	f.UserData, f.deeper = f.as("ann"), deeper{s.System()}
}

// as is what another user has.
func (f *fixture) as(user string) store.UserData { return f.For(access.FromRow(user)) }

// tick is the fixture's clock.
func (f *fixture) tick() time.Time {
	f.now = f.now.Add(time.Second)
	return f.now
}

func (f *fixture) reopen() {
	f.Helper()
	f.must(f.Close())
	f.use(f.open(f.T, f.place))
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// want fails the test unless err is target and names what it is about.
func (f *fixture) want(err, target error, about string) {
	f.Helper()
	if !errors.Is(err, target) {
		f.Fatalf("error = %v, want %v", err, target)
	}
	if about != "" && !contains(err.Error(), about) {
		f.Errorf("error %q does not name %q", err, about)
	}
}

func contains(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

// equal compares what a store gave with what it should have.
func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	if reflect.DeepEqual(got, want) { // cmp looks at each byte of a value by itself
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		f.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (f *fixture) thread(id string) store.Thread {
	f.Helper()
	now := f.tick()
	t := store.Thread{ID: id, UserID: "ann", Title: "Title of " + id, Metadata: json.RawMessage(`{"a":1}`),
		Status:    store.ThreadIdle,
		CreatedAt: now, UpdatedAt: now}
	f.must(f.CreateThread(f.Context(), t))
	return t
}

func (f *fixture) run(id, thread string) store.Run {
	f.Helper()
	now := f.tick()
	r := store.Run{ID: id, ThreadID: thread, UserID: "ann", Status: event.StatusPending,
		Request: json.RawMessage(`{"input": "hello"}`), CreatedAt: now, UpdatedAt: now}
	got, err := f.admit(r)
	f.must(err)
	return got
}

// admit admits a run to a thread that there is.
func (f *fixture) admit(r store.Run) (store.Run, error) {
	return f.Admit(f.Context(), store.Admission{Run: r, MustExist: true})
}

// queue admits a run that may wait, and returns its status.
func (f *fixture) queue(strategy store.Strategy, r store.Run) string {
	f.Helper()
	if r.CreatedAt.IsZero() {
		r.CreatedAt = f.tick()
		r.UpdatedAt = r.CreatedAt
	}
	r.UserID = "ann"
	got, err := f.Admit(f.Context(), store.Admission{Run: r, MustExist: true, Strategy: strategy})
	f.must(err)
	f.equal("run as admitted", got, f.stored(r.ID))
	return got.Status
}

// stored is the run as it is.
func (f *fixture) stored(id string) store.Run {
	f.Helper()
	r, err := f.deeper.Run(f.Context(), id)
	f.must(err)
	return r
}

func (f *fixture) claim(run string, attempt int) store.Fence {
	f.Helper()
	return f.claimAs("node-1", run, attempt)
}

func (f *fixture) claimAs(owner, run string, attempt int) store.Fence {
	f.Helper()
	fence, err := f.ClaimRun(f.Context(), run, owner, attempt, f.tick())
	f.must(err)
	return fence
}

// running makes a thread with a run that this test owns.
func (f *fixture) running(name string) *owner {
	f.Helper()
	f.thread("thread-" + name)
	f.run("run-"+name, "thread-"+name)
	return &owner{f: f, thread: "thread-" + name, fence: f.claim("run-"+name, 0)}
}

// owner is a run's owner, with the state as it should be.
type owner struct {
	f      *fixture
	thread string
	fence  store.Fence
	n      int64
	state  state.State
}

// event makes the next event.
func (o *owner) event(data event.Data) event.Event {
	o.n++
	return event.Event{ID: event.ID{Attempt: o.fence.Attempt, N: o.n},
		Time: start.Add(time.Duration(o.n) * time.Second), Node: "model", Data: data}
}

// step makes a step of updates, each with its event.
func (o *owner) step(updates ...state.Update) store.Step {
	o.f.Helper()
	s := store.Step{Next: "model", Now: o.f.tick()}
	for _, u := range updates {
		s.Updates = append(s.Updates, store.NodeUpdate{Node: "model", Update: u})
		s.Events = append(s.Events, o.event(event.State{}))
		var err error
		o.state, _, err = o.state.Apply(u)
		o.f.must(err)
	}
	s.State = o.state
	return s
}

func (o *owner) commit(s store.Step) string {
	o.f.Helper()
	id, err := o.f.Commit(o.f.Context(), o.fence, s)
	o.f.must(err)
	return id
}

// say commits a step of one message and returns its checkpoint.
func (o *owner) say(text string) string {
	o.f.Helper()
	return o.commit(o.step(messages.Append(item{ID: fmt.Sprintf("%s-%d", o.fence.RunID, o.n), Text: text})))
}

// end commits the run's end.
func (o *owner) end() {
	o.f.Helper()
	o.commit(store.Step{Run: &store.RunChange{Status: event.StatusSuccess}, Now: o.f.tick()})
}

// The channels of the tests: one of each kind.
type item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

var (
	messages = state.Log("messages", func(i item) string { return i.ID })
	title    = state.LastValue[string]("title")
	count    = state.Reduced("count", func(a, b int) (int, error) { return a + b, nil })
	hidden   = state.LastValue[map[string]int]("hidden").AsPrivate()
)

func schema(t *testing.T) state.Schema {
	s, err := state.NewSchema(messages, title, count, hidden)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// values is a state in comparable form: every channel's JSON, the private one included.
func values(t *testing.T, s state.State) map[string]string {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	raw, err := s.Values()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string, len(raw))
	for name, v := range raw {
		out[name] = string(v)
	}
	if s.Has(hidden.Name()) {
		b, _ := json.Marshal(hidden.Get(s))
		out["hidden"] = string(b)
	}
	return out
}
