// Package bustest is the conformance suite of package bus: what every implementation must do, whatever carries the
// messages. An implementation's test calls [Run].
package bustest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/internal/bus"
)

// patience is how long a test waits for what must happen; it is only used up where a test fails.
const patience = 20 * time.Second

// Open prepares a bus that nobody else uses and returns a maker of handles on it: each is what a process of its own
// would open. They may be one and the same where a bus is for one process. The suite closes them.
type Open func(t *testing.T) func() bus.Bus

// Run tests a bus.
func Run(t *testing.T, open Open) {
	tests := []struct {
		name string
		test func(*fixture)
	}{
		{"fan out", fanOut},
		{"order", order},
		{"arrives after subscribe", arrivesAfterSubscribe},
		{"many subjects", manySubjects},
		{"sizes", sizes},
		{"bad subjects", badSubjects},
		{"nothing after close of the subscription", nothingAfterClose},
		{"close from the handle", closeFromHandle},
		{"stuck subscriber", stuckSubscriber},
		{"stuck subscriber elsewhere", stuckSubscriberElsewhere},
		{"close", closeEndsAll},
		{"close with a stuck subscriber", closeWithStuck},
		{"concurrent use", concurrentUse},
		{"close under load", closeUnderLoad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) }) // after the handles were closed
			tt.test(&fixture{T: t, open: open(t)})
		})
	}
}

// fixture makes handles and waits for things.
type fixture struct {
	*testing.T

	open func() bus.Bus
}

// handle returns a healthy handle that is closed at the end of the test.
func (f *fixture) handle() bus.Bus {
	f.Helper()
	b := f.open()
	f.Cleanup(func() {
		if err := b.Close(); err != nil {
			f.Errorf("Close: %v", err)
		}
	})
	f.until("healthy", func() bool { return b.Healthy() == nil })
	return b
}

func (f *fixture) subscribe(b bus.Bus, subject string, handle func([]byte)) bus.Subscription {
	f.Helper()
	s, err := b.Subscribe(subject, handle)
	if err != nil {
		f.Fatalf("Subscribe: %v", err)
	}
	return s
}

// until waits for a condition.
func (f *fixture) until(what string, ok func() bool) {
	f.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("never %s", what)
		}
	}
}

// within fails unless do returns in time: what must not wait for others gets a limit far above what it needs.
func (f *fixture) within(limit time.Duration, what string, do func()) {
	f.Helper()
	start := time.Now()
	do()
	if took := time.Since(start); took > limit {
		f.Errorf("%s took %v", what, took)
	}
}

// inbox keeps what a subscriber got.
type inbox struct {
	mu  sync.Mutex
	got []string
}

func (i *inbox) take(data []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.got = append(i.got, string(data))
}

func (i *inbox) all() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.got)
}

func (i *inbox) len() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.got)
}

// expect waits for as many messages and compares them.
func (f *fixture) expect(i *inbox, want ...string) {
	f.Helper()
	f.until("as many messages", func() bool { return i.len() >= len(want) })
	if diff := cmp.Diff(want, i.all()); diff != "" {
		f.Errorf("messages (-want +got):\n%s", diff)
	}
}
