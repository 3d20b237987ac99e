package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestAnswersToErrors: each error that is known has a status, a sentence, and a time to come again where that helps; what is not
// known stays in the log.
func TestAnswersToErrors(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		after  string
		detail string
	}{
		{store.ErrNotFound, 404, "", "Not found"},
		{store.ErrConflict, 409, "", "conflict"},
		{store.ErrFull, 429, "5", "Too many runs wait already; try again later"},
		{runs.ErrBadUpdate, 422, "", "invalid state update"},
		{runs.ErrBadAnswer, 422, "", runs.ErrBadAnswer.Error()},
		{store.ErrTooLarge, 422, "", "too large"},
		{store.ErrUnavailable, 503, "5", "The server's database cannot be used at present"},
		{store.ErrDiskFull, 503, "5", "The server's disk is full; nothing is taken in until there is room again"},
		{store.ErrLost, 503, "5", "The file of the server's database was deleted or replaced; the server's log says what to do"},
		{store.ErrUnreachable, 503, "5", "The server's database cannot be reached; try again"},
		{store.ErrClosed, 503, "1", "The server is stopping"},
		{runs.ErrStopped, 503, "1", "The server is stopping"},
		{errStopping, 503, "1", "The server is stopping"},
		{&http.MaxBytesError{Limit: 7}, 413, "", "The request is larger than 7 bytes"},
		{failf(418, "I am %s", "one"), 418, "", "I am one"},
		{errors.New("password=hunter2"), 500, "", "Internal Server Error"},
	} {
		var log bytes.Buffer
		s := &Server{Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		w := httptest.NewRecorder()
		s.fail(w, httptest.NewRequestWithContext(t.Context(), "GET", "/threads/x", http.NoBody), fmt.Errorf("while: %w", c.err))
		got, _ := at(decode(t, w.Body.Bytes()), "detail").(string)
		if w.Code != c.status || w.Header().Get("Retry-After") != c.after || strings.TrimPrefix(got, "while: ") != c.detail {
			t.Errorf("%v: %d, after %q: %s", c.err, w.Code, w.Header().Get("Retry-After"), got)
		}
		if h := w.Header(); h.Get("Content-Type") != "application/json" || h.Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
			t.Errorf("%v: %v", c.err, h)
		}
		told := strings.Contains(log.String(), "level=ERROR msg=\"request failed\" method=GET path=/threads/x status="+fmt.Sprint(c.status)) &&
			strings.Contains(log.String(), c.err.Error())
		if told != (c.status >= 500) {
			t.Errorf("%v: the log is %q", c.err, &log)
		}
	}
}

// TestNobodyIsAnswered who has gone; but who is there hears of what was cancelled for another reason.
func TestNobodyIsAnswered(t *testing.T) {
	var log bytes.Buffer
	s := &Server{Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx   context.Context
		err   error
		hears bool
	}{
		{gone, context.Canceled, false}, {gone, fmt.Errorf("read: %w", context.Canceled), false}, {gone, errors.New("broken"), true}, {t.Context(), context.Canceled, true},
	} {
		w := httptest.NewRecorder()
		log.Reset()
		s.fail(w, httptest.NewRequestWithContext(c.ctx, "GET", "/", http.NoBody), c.err)
		if hears := w.Body.Len() > 0; hears != c.hears || (log.Len() > 0) != c.hears {
			t.Errorf("%v: answered %q, the log is %q", c.err, w.Body, &log)
		}
	}
}

// TestWhatCannotBeEncoded is an error, and no answer.
func TestWhatCannotBeEncoded(t *testing.T) {
	w := httptest.NewRecorder()
	for _, err := range []error{reply(w, 200, func() {}), replyList(w, []any{func() {}}, []string{"a"}), replyList(w, []any{1}, []string{"a"})} {
		if err == nil || !strings.HasPrefix(err.Error(), "encode answer: ") || w.Body.Len() > 0 {
			t.Errorf("%v: %s", err, w.Body)
		}
	}
	if err := (&Error{Status: 404, Detail: "gone"}); err.Error() != "404: gone" {
		t.Error(err)
	}
}

// TestTheSentenceOfFaults has the place of each, and is bounded.
func TestTheSentenceOfFaults(t *testing.T) {
	list := []fault{{Loc: []any{"body", "a", 1}, Msg: "is wrong"}, {Loc: []any{"query"}, Msg: "too"}}
	if got := (&Error{Detail: list}).message(); got != "body.a.1: is wrong; query: too" {
		t.Error(got)
	}
	for n, whole := range map[int]bool{maxMessage - len("body: "): true, maxMessage - len("body: ") + 1: false} {
		if got := (&Error{Detail: []fault{{Loc: []any{"body"}, Msg: long(n)}}}).message(); (got == "body: "+long(n)) != whole {
			t.Errorf("of %d bytes %d are left", n, len(got))
		}
	}
}

// patient is a store that notes how long a request would wait for its database.
type patient struct {
	store.Store

	waits time.Duration
}

func (p *patient) For(u access.User) store.UserData { return patientData{p.Store.For(u), p} }

type patientData struct {
	store.UserData
	p *patient
}

func (d patientData) CountThreads(ctx context.Context, f store.ThreadFilter) (int, error) {
	d.p.waits = store.Patience(ctx, time.Hour)
	return d.UserData.CountThreads(ctx, f)
}

// TestARequestWaitsAMoment for a database that is away, and no longer.
func TestARequestWaitsAMoment(t *testing.T) {
	p := &patient{}
	k := newServer(t, func(c *Config) { p.Store, c.Store = c.Store, p })
	k.play([]scenario{{name: "count", method: "POST", path: "/threads/count", status: 200}})
	if p.waits != time.Second {
		t.Errorf("it waits %v", p.waits)
	}
}

// TestWhatIsShownOfARequest is short: as it came, or as much of it as a message may have.
func TestWhatIsShownOfARequest(t *testing.T) {
	for in, want := range map[string]string{
		`"` + long(998) + `"`: `"` + long(998) + `"`, `"` + long(999) + `"`: "", `{`: `"{"`, ``: `""`, `[1]`: `[1]`,
	} {
		if got := string(quoted([]byte(in))); want != "" && got != want || want == "" && (len(got) > 200 || got == in) {
			t.Errorf("%.20s of %d bytes: %.200s", in, len(in), got)
		}
	}
	if clip(long(100)) != long(100) || clip(long(101)) == long(101) || clip("\xff") != "?" {
		t.Errorf("%q %q", clip(long(101)), clip("\xff"))
	}
}

// TestWhatIsText has no NUL, and is UTF-8 but for a character that is cut.
func TestWhatIsText(t *testing.T) {
	for text, want := range map[string]bool{"a\x00b": false, "a\x01b": true, "ü": true, "\xff": false, "": true, "abc\xc3": false} {
		if isText([]byte(text), false) != want {
			t.Errorf("%q", text)
		}
	}
	for text, want := range map[string]bool{"abc\xc3": true, "abc\xe2\x82": true, "abc\xf0\x9f\x98": true, "abc\x80\x80\x80": false, "abc\xff": false, "abc": true, "a\x00c": false, "abcü": true} {
		if isText([]byte(text), true) != want {
			t.Errorf("%q, cut", text)
		}
	}
}
