package modeltest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/model"
)

// connectionCase is about the stream itself: its size, its pace, its end.
type connectionCase struct {
	name string
	run  func(t *testing.T, h Harness)
}

func connectionCases() []connectionCase {
	return []connectionCase{
		{"large_event", largeEvent},
		{"tiny_chunks", tinyChunks},
		{"silence_at_start", silenceAtStart},
		{"silence_in_stream", silenceInStream},
		{"cancel_before_answer", cancelBeforeAnswer},
		{"cancel_in_stream", cancelInStream},
		{"early_break", earlyBreak},
		{"reuse", reuse},
		{"concurrent", concurrent},
	}
}

func expectText(t *testing.T, m model.ChatModel, want string) {
	t.Helper()
	chunks, err := drain(t, m, ask())
	if err != nil {
		t.Error(err)
		return
	}
	msg := fold(chunks)
	if got := msg.Text(); got != want {
		t.Errorf("%d bytes of text, want %d", len(got), len(want))
	}
}

func largeEvent(t *testing.T, h Harness) {
	text := strings.Repeat("abcdefghi ", 200_000)
	_, m := start(t, h, 0, generated(t, h, []string{text}))
	expectText(t, m, text)
}

func tinyChunks(t *testing.T, h Harness) {
	a := generated(t, h, strings.Split(strings.Repeat("x", 1000), ""))
	_, m := start(t, h, 0, a)
	expectText(t, m, strings.Repeat("x", 1000))
}

// silent is the head of an answer, with its first text if asked for, after which nothing comes.
func silent(t *testing.T, h Harness, withText bool) answer {
	a := load(t, h, "text")
	a.ending = endSilent
	a.body = nil
	if withText {
		a.body = load(t, h, "cut_stream").body
	}
	return a
}

func silenceAtStart(t *testing.T, h Harness)  { silence(t, h, false) }
func silenceInStream(t *testing.T, h Harness) { silence(t, h, true) }

func silence(t *testing.T, h Harness, withText bool) {
	// as long as a busy machine takes to see the request
	s, m := start(t, h, 500*time.Millisecond, silent(t, h, withText))
	begin := time.Now()
	_, err := drain(t, m, ask())
	if e := model.AsError(err); e == nil || e.Class != model.ClassTransient {
		t.Errorf("error %v, want a transient one", err)
	}
	if d := time.Since(begin); d > maxWait {
		t.Errorf("took %v", d)
	}
	s.waitGone()
}

func cancelBeforeAnswer(t *testing.T, h Harness) {
	s, m := start(t, h, 0, silent(t, h, false))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	wantCanceled(t, m, ctx, cancel)
	s.waitGone()
}

func cancelInStream(t *testing.T, h Harness) {
	s, m := start(t, h, 0, silent(t, h, true))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wantCanceled(t, m, ctx, cancel)
	s.waitGone()
}

// wantCanceled cancels at the first chunk and wants the stream to end within a second, with the context's error.
func wantCanceled(t *testing.T, m model.ChatModel, ctx context.Context, cancel func()) {
	t.Helper()
	begin := time.Now()
	var last error
	for _, err := range m.Stream(ctx, ask()) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", last)
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("took %v after the cancel, want less than a second", d)
	}
}

// earlyBreak stops reading at the first chunk; the connection must be closed.
func earlyBreak(t *testing.T, h Harness) {
	s, m := start(t, h, 0, silent(t, h, true))
	for _, err := range m.Stream(t.Context(), ask()) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	s.waitGone()
}

// reuse wants one connection for three calls, although the model knows that an answer is complete before its body ends.
func reuse(t *testing.T, h Harness) {
	a := load(t, h, "text")
	a.ending = endLate
	s, m := start(t, h, 0, a)
	for range 3 {
		expectText(t, m, "Hello, world!")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns != 1 {
		t.Errorf("%d connections for 3 calls in a row, want 1", s.conns)
	}
}

func concurrent(t *testing.T, h Harness) {
	_, m := start(t, h, 0, load(t, h, "text"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := model.Collect(m.Stream(t.Context(), ask()))
			if err != nil || got.Text() != "Hello, world!" {
				t.Errorf("%q, %v", got.Text(), err)
			}
		})
	}
	wg.Wait()
}
