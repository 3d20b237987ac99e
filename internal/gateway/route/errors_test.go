package route

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

	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestAnswersToErrors: each error that is known has a status, a sentence, and a time to come again where that helps;
// what is not known stays in the log.
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
		{store.ErrLost, 503, "5",
			"The file of the server's database was deleted or replaced; the server's log says what to do"},
		{store.ErrUnreachable, 503, "5", "The server's database cannot be reached; try again"},
		{store.ErrClosed, 503, "1", "The server is stopping"},
		{runs.ErrStopped, 503, "1", "The server is stopping"},
		{ErrStopping, 503, "1", "The server is stopping"},
		{&http.MaxBytesError{Limit: 7}, 413, "", "The request is larger than 7 bytes"},
		{Failf(418, "I am %s", "one"), 418, "", "I am one"},
		{errors.New("password=hunter2"), 500, "", "Internal Server Error"},
	} {
		var log bytes.Buffer
		e := &Env{Log: slog.New(slog.NewTextHandler(&log, nil))}
		w := httptest.NewRecorder()
		e.Fail(w, httptest.NewRequestWithContext(t.Context(), "GET", "/threads/x", http.NoBody),
			fmt.Errorf("while: %w", c.err))
		got, _ := jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "detail").(string)
		if w.Code != c.status || w.Header().Get("Retry-After") != c.after ||
			strings.TrimPrefix(got, "while: ") != c.detail {
			t.Errorf("%v: %d, after %q: %s", c.err, w.Code, w.Header().Get("Retry-After"), got)
		}
		if h := w.Header(); h.Get("Content-Type") != "application/json" ||
			h.Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
			t.Errorf("%v: %v", c.err, h)
		}
		told := strings.Contains(log.String(), "level=ERROR msg=\"request failed\" method=GET path=/threads/x status="+
			fmt.Sprint(c.status)) &&
			strings.Contains(log.String(), c.err.Error())
		if told != (c.status >= 500) {
			t.Errorf("%v: the log is %q", c.err, &log)
		}
	}
}

// TestNobodyIsAnswered who has gone; but who is there hears of what was cancelled for another reason.
func TestNobodyIsAnswered(t *testing.T) {
	var log bytes.Buffer
	e := &Env{Log: slog.New(slog.NewTextHandler(&log, nil))}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx   context.Context
		err   error
		hears bool
	}{
		{gone, context.Canceled, false}, {gone, fmt.Errorf("read: %w", context.Canceled), false}, {gone,
			errors.New("broken"), true}, {t.Context(), context.Canceled, true},
	} {
		w := httptest.NewRecorder()
		log.Reset()
		e.Fail(w, httptest.NewRequestWithContext(c.ctx, "GET", "/", http.NoBody), c.err)
		if hears := w.Body.Len() > 0; hears != c.hears || (log.Len() > 0) != c.hears {
			t.Errorf("%v: answered %q, the log is %q", c.err, w.Body, &log)
		}
	}
}

// TestWhatCannotBeEncoded is an error, and no answer.
func TestWhatCannotBeEncoded(t *testing.T) {
	w := httptest.NewRecorder()
	for _, err := range []error{
		Reply(w, 200, func() {}), Page[any]{Entries: []any{func() {}}, Select: []string{"a"}}.Respond(w),
		Page[any]{Entries: []any{1}, Select: []string{"a"}}.Respond(w),
	} {
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
	list := []Fault{{Loc: []any{"body", "a", 1}, Msg: "is wrong"}, {Loc: []any{"query"}, Msg: "too"}}
	if got := (&Error{Detail: list}).message(); got != "body.a.1: is wrong; query: too" {
		t.Error(got)
	}
	for n, whole := range map[int]bool{maxMessage - len("body: "): true, maxMessage - len("body: ") + 1: false} {
		if got := (&Error{Detail: []Fault{{Loc: []any{"body"}, Msg: jsontest.Long(n)}}}).
			message(); (got == "body: "+jsontest.Long(n)) != whole {
			t.Errorf("of %d bytes %d are left", n, len(got))
		}
	}
}

// TestWhatIsShownOfARequest is short: as it came, or as much of it as a message may have.
func TestWhatIsShownOfARequest(t *testing.T) {
	for in, want := range map[string]string{
		`"` + jsontest.Long(998) + `"`: `"` + jsontest.Long(998) + `"`, `"` + jsontest.Long(999) + `"`: "", `{`: `"{"`,
		``: `""`, `[1]`: `[1]`,
	} {
		if got := string(Quoted([]byte(in))); want != "" && got != want || want == "" && (len(got) > 200 || got == in) {
			t.Errorf("%.20s of %d bytes: %.200s", in, len(in), got)
		}
	}
	if Clip(jsontest.Long(100)) != jsontest.Long(100) || Clip(jsontest.Long(101)) == jsontest.Long(101) ||
		Clip("\xff") != "?" {
		t.Errorf("%q %q", Clip(jsontest.Long(101)), Clip("\xff"))
	}
}
