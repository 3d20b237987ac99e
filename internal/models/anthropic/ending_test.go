package anthropic

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// The pieces of an answer.
const (
	begun    = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
	saysHi   = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n"
	stopped  = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	finished = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n"
)

// readAll folds an answer.
func readAll(body io.Reader) (message.Message, error) {
	s := stream{origin: &New(Config{Model: "m"}).client.Origin}
	var b message.Builder
	err := s.origin.Read(body, &s, func(c message.Chunk, _ error) bool { b.Add(c); return true })
	return b.Message(), err
}

func TestHowAStreamEnds(t *testing.T) {
	cut := iotest.ErrReader(io.ErrUnexpectedEOF)
	for _, tt := range []struct {
		name string
		body io.Reader
		want error // nil: complete
	}{
		{"properly", strings.NewReader(begun + saysHi + finished + stopped), nil},
		{"without its last event", strings.NewReader(begun + saysHi + finished), nil},
		{"cut behind the stop reason", io.MultiReader(strings.NewReader(begun+saysHi+finished), cut), nil},
		{"cut before it", io.MultiReader(strings.NewReader(begun+saysHi), cut), io.ErrUnexpectedEOF},
		{"without a stop reason", strings.NewReader(begun + saysHi + stopped), io.ErrUnexpectedEOF},
		{"what follows the end is not read",
			strings.NewReader(begun + saysHi + finished + stopped + "data: garbage\n\n"), nil},
		{"no names of events", strings.NewReader(strings.ReplaceAll(begun+saysHi+finished+stopped, "event: ", "id: ")),
			nil},
		{"no errors", strings.NewReader(strings.ReplaceAll(begun+saysHi+finished+stopped, `,"`, `,"error":null,"`)),
			nil},
		{"new events and pings",
			strings.NewReader(begun +
				"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: new\ndata: {\"type\":\"new\",\"x\":[]}\n\nevent: empty\n\n" + saysHi + finished + stopped), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(tt.body)
			if !errors.Is(err, tt.want) || got.Text() != "hi" {
				t.Errorf("%q, error %v, want %v", got.Text(), err, tt.want)
			}
		})
	}
}

// TestStopReasons, as the page "Handling stop reasons" lists them.
func TestStopReasons(t *testing.T) {
	for reason, truncated := range map[string]bool{"end_turn": false, "max_tokens": true, "stop_sequence": false,
		"tool_use":   false,
		"pause_turn": false, "refusal": false, "model_context_window_exceeded": true} {
		got, err := readAll(strings.NewReader(begun + saysHi + strings.Replace(finished, "end_turn", reason, 1) +
			stopped))
		if err != nil || got.FinishReason() != reason || got.Truncated() != truncated {
			t.Errorf("%s: %q, truncated %t, error %v", reason, got.FinishReason(), got.Truncated(), err)
		}
	}
}

func TestRefusalSaysWhy(t *testing.T) {
	body, err := os.Open("testdata/answers/refusal.sse")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	got, err := readAll(body)
	if why := string(got.ResponseMetadata["stop_details"]); err != nil || got.FinishReason() != "refusal" ||
		!strings.Contains(why, `"category": "cyber"`) {
		t.Errorf("%v, stop_details %s", err, why)
	}
}

// TestErrors, as the page "Errors" lists them: as an answer, and inside a stream.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status int // 0: inside a stream
		kind   string
		class  model.Class
	}{
		{400, "invalid_request_error", model.ClassBadRequest},
		{401, "authentication_error", model.ClassAuth},
		{402, "billing_error", model.ClassQuota},
		{403, "permission_error", model.ClassAuth},
		{404, "not_found_error", model.ClassNotFound},
		{413, "request_too_large", model.ClassContextLength},
		{429, "rate_limit_error", model.ClassRateLimit},
		{500, "api_error", model.ClassTransient},
		{504, "timeout_error", model.ClassTransient},
		{529, "overloaded_error", model.ClassBusy},
		{0, "overloaded_error", model.ClassBusy},
		{0, "api_error", model.ClassTransient},
		{0, "rate_limit_error", model.ClassRateLimit},
		{0, "invalid_request_error", model.ClassBadRequest},
		{0, "billing_error", model.ClassQuota},
		{0, "timeout_error", model.ClassTransient},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			object := `{"type":"error","error":{"type":"` + tt.kind + `","message":"m"},"request_id":"req_1"}`
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tt.status == 0 {
					io.WriteString(w, begun+saysHi+"event: error\ndata: "+object+"\n\n")
					return
				}
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(tt.status)
				io.WriteString(w, object)
			}))
			defer srv.Close()
			_, err := model.Collect(New(Config{BaseURL: srv.URL}).Stream(t.Context(), &model.Request{}))
			e := model.AsError(err)
			if e == nil || e.Class != tt.class || e.Status != tt.status || e.Message != "m" {
				t.Fatalf("%#v", e)
			}
			if tt.status > 0 && e.RetryAfter != 3*time.Second {
				t.Errorf("wait %v", e.RetryAfter)
			}
		})
	}
}

// TestLargeEvents: an event may be as large as an answer; beyond that it ends the answer.
func TestLargeEvents(t *testing.T) {
	event := func(size int64) io.Reader {
		return io.MultiReader(strings.NewReader(begun+saysHi+
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`),
			io.LimitReader(repeat('x'), size), strings.NewReader("\"}}\n\n"+finished+stopped))
	}
	got, err := readAll(event(1 << 20))
	if n := len(got.Text()); err != nil || n != 1<<20+len("hi") {
		t.Errorf("%d bytes of text, error %v", n, err)
	}
	_, err = readAll(event(wire.MaxEvent + 1<<20))
	if e := model.AsError(err); e == nil || e.Class != model.ClassTooLarge || !errors.Is(err, wire.ErrEventTooLong) {
		t.Errorf("error %v", err)
	}
}

// repeat is one byte without end.
type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}
