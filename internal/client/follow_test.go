package client

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	r := bufio.NewReaderSize(strings.NewReader("a\n\n"+long+"\nb\nrest"), 16)
	for _, want := range []string{"a", "", long, "b"} {
		if got, err := readLine(r); err != nil || string(got) != want {
			t.Errorf("got %.20q, %v", got, err)
		}
	}
	if got, err := readLine(r); !errors.Is(err, io.EOF) {
		t.Errorf("of a line without an end: %q, %v", got, err)
	}
}

// endless is a line that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReadLineIsBounded(t *testing.T) {
	if _, err := readLine(bufio.NewReaderSize(endless{}, 1<<20)); !errors.Is(err, errGarbled) || passing(err) {
		t.Errorf("got %v", err)
	}
}

// FuzzLine: whatever a server says, events come in order, and what is none is an error or an end.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"id":"1-2","time":"2026-11-21T10:47:10Z","kind":"chunk","data":{"text":"a"}}`))
	f.Add([]byte(`{"run":{"run_id":"r","status":"success","usage":{"input_tokens":1},"created_at":"2026-11-21T10:47:10Z"}}`))
	f.Add([]byte(`{"run":null}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var last event.ID
		l := &log{client: &Client{}, after: event.ID{Attempt: 1, N: 1}}
		last = l.after
		l.show = func(ev event.Event) {
			if ev.ID.Compare(last) <= 0 {
				t.Errorf("%s after %s", ev.ID, last)
			}
			last = ev.ID
		}
		for range 2 {
			if _, ended, err := l.line(raw); ended && err != nil || err != nil && passing(err) {
				t.Errorf("ended %t, %v", ended, err)
			}
		}
	})
}

func TestDetails(t *testing.T) {
	for raw, want := range map[string]string{
		`{"detail":"no \u001b[31msuch\nthing"}`:                                        "no such thing",
		`{"detail":[{"loc":["body","x",0],"msg":"bad"},{"loc":["query"],"msg":"no"}]}`: "body x 0: bad; query: no",
		`{"detail":{"a":1}}`:                       `{"a":1}`,
		`{"detail":{"a":1,"message":"It bites."}}`: `It bites`,
		`{"detail":"Thread 'a' not found."}`:       `Thread 'a' not found`,
		`{"error":"x"}`:                            `{"error":"x"}`,
		`<html>`:                                   `<html>`,
		``:                                         ``,
	} {
		if got := detailOf([]byte(raw)); got != want {
			t.Errorf("%s: %q", raw, got)
		}
	}
	if got := detailOf([]byte(strings.Repeat("é", 5000))); len(got) > 600 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzDetail(f *testing.F) {
	f.Add([]byte(`{"detail":"x"}`))
	f.Add([]byte(`{"detail":[{"loc":[{}],"msg":"\u001b"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := detailOf(raw); strings.ContainsAny(got, "\x1b\n\r\x00") || len(got) > 600 {
			t.Errorf("%q", got)
		}
	})
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"http://localhost:2026/", "https://h/api", "http://[::1]:1", "localhost", "http://u@h",
		"http://h#f", "http://h/%zz", "//h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		base, err := checkURL(s)
		if err == nil && (strings.HasSuffix(base, "/") || !strings.HasPrefix(base, "http")) {
			t.Errorf("%q: %q", s, base)
		}
		if again, errAgain := checkURL(base); err == nil && (errAgain != nil || again != base) {
			t.Errorf("%q: %q, then %q, %v", s, base, again, errAgain)
		}
	})
}

func TestThreadStatuses(t *testing.T) {
	got := threadStatuses([]string{event.StatusPending, event.StatusRunning, event.StatusInterrupted, event.StatusError,
		event.StatusSuccess})
	want := []string{store.ThreadBusy, store.ThreadInterrupted, store.ThreadError, store.ThreadIdle}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q", got)
	}
}
