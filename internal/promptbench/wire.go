package promptbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/compaction"
	"github.com/pudu-ai/pudu/internal/conversation"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/internal/tokens"
	"github.com/pudu-ai/pudu/message"
)

// exchange is a request of the conversation: its body, and what is known of it from inside.
type exchange struct {
	facts

	body []byte
}

// facts are what explains why a request differs from the one before it.
type facts struct {
	turn        int
	compactions int // of the thread so far
	images      int // in the request
	tools       []string
	notes       []string // names of the program's messages
}

// server is the model's side of the conversation. It takes the place of the connection, so that the provider above it is
// the real one.
type server struct {
	exchanges []exchange
	next      facts    // of the request under way
	script    []answer // that are to come in this turn
	calls     int
}

var _ http.RoundTripper = (*server)(nil)

// RoundTrip implements [http.RoundTripper].
func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if len(s.script) == 0 {
		return nil, errors.New("the script has no answer for this call")
	}
	a := s.script[0]
	s.script = s.script[1:]
	s.exchanges = append(s.exchanges, exchange{s.next, body})
	return stream(req, a.event(&s.calls), guess(body)), nil
}

// guess is what a provider would report for a request: the text by our own guess, images by their usual price.
func guess(body []byte) int {
	n := 0
	for i, part := range strings.Split(string(body), `"data:image/`) {
		if i > 0 {
			_, part, _ = strings.Cut(part, `"`)
			n += tokens.Image
		}
		n += tokens.Text(part)
	}
	return n
}

// stream is an answer of one event, with its usage.
func stream(req *http.Request, event string, prompt int) *http.Response {
	const end = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":60,"total_tokens":%d}}` + "\n\ndata: [DONE]\n\n"
	text := "data: " + event + "\n\n" + fmt.Sprintf(end, prompt, prompt+60)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// event is the answer on the wire.
func (a answer) event(calls *int) string {
	var b strings.Builder
	b.WriteString(`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":` + strconv.Quote(a.text))
	finish := "stop"
	for i, c := range a.calls {
		sep := ","
		if i == 0 {
			sep, finish = `,"tool_calls":[`, "tool_calls"
		}
		*calls++
		fmt.Fprintf(&b, `%s{"index":%d,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}`, sep, i, *calls, c.tool, c.args)
	}
	if len(a.calls) > 0 {
		b.WriteString("]")
	}
	b.WriteString(`},"finish_reason":"` + finish + `"}]}`)
	return b.String()
}

// scribe answers the requests for summaries.
type scribe struct{ calls, bytes int }

var _ http.RoundTripper = (*scribe)(nil)

// RoundTrip implements [http.RoundTripper].
func (s *scribe) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.calls, s.bytes = s.calls+1, s.bytes+len(body)
	n := 0
	return stream(req, answer{text: summaryText}.event(&n), guess(body)), nil
}

// clientOf is the provider that sends to the server.
func clientOf(name string, to http.RoundTripper) *openai.Model {
	return openai.New(openai.Config{
		Name: "bench", BaseURL: "http://model.invalid/v1", Model: name, Dialect: "openai", Client: &http.Client{Transport: to},
	})
}

// observer stands innermost in the chain and notes what each request is about.
type observer struct{ server *server }

var _ agent.ModelCallWrapper = observer{}

// Name implements [agent.Middleware].
func (observer) Name() string { return "PromptBench" }

// WrapModelCall implements [agent.ModelCallWrapper].
func (o observer) WrapModelCall(ctx context.Context, req *agent.ModelRequest, next agent.ModelHandler) (*agent.ModelResponse, error) {
	at := compaction.Channel.Get(req.State)
	f := facts{turn: o.server.next.turn, compactions: at.Number}
	for _, t := range req.Tools {
		f.tools = append(f.tools, t.Name)
	}
	for _, m := range req.Messages {
		for _, p := range m.Content {
			if p.Type == message.PartImage {
				f.images++
			}
		}
		if m.Role == message.Human && conversation.Hidden(m) && m.Name != "" && m.Name != "user-input" && !slices.Contains(f.notes, m.Name) {
			f.notes = append(f.notes, m.Name)
		}
	}
	o.server.next = f
	return next(ctx, req)
}

// prefix is the part of a body that the next one should begin with: all up to the bracket that closes the messages.
func prefix(body []byte) []byte {
	if i := bytes.LastIndex(body, []byte("]")); i >= 0 {
		return body[:i]
	}
	return body
}
