package prompts

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/model/tokens"
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
	tokens      int      // in the request
}

// server is the model's side of the conversation. It takes the place of the connection, so that the provider above it
// is the real one.
type server struct {
	wire      wires.Wire
	exchanges []exchange
	next      facts    // of the request under way
	script    []answer // that are to come in this turn
	calls     int
	// said is what the user says during the turn, by the number of the answer, and say says it. err is why it could not
	// be said.
	said   map[int]string
	say    func(ctx context.Context, text string) error
	asked  int // in this turn
	err    error
	moves  chan struct{} // closed with the next request
	movesM sync.Mutex
}

// begin has the server play a turn.
func (s *server) begin(number int, t turn, say func(context.Context, string) error) {
	s.script, s.next, s.said, s.say, s.asked = t.answers, facts{turn: number}, t.said, say, 0
}

// moved is closed when the lead asks the model again.
func (s *server) moved() <-chan struct{} {
	s.movesM.Lock()
	defer s.movesM.Unlock()
	if s.moves == nil {
		s.moves = make(chan struct{})
	}
	return s.moves
}

func (s *server) move() {
	s.movesM.Lock()
	defer s.movesM.Unlock()
	if s.moves != nil {
		close(s.moves)
		s.moves = nil
	}
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
	s.move()
	s.asked++
	if text := s.said[s.asked]; text != "" {
		if err := s.say(req.Context(), text); err != nil {
			s.err = err
			return nil, err
		}
	}
	s.exchanges = append(s.exchanges, exchange{s.next, body})
	return stream(req, s.wire.Answer(a, &s.calls, s.next.tokens)), nil
}

// guess is what a provider would report for a request, the same on all wires: our own guess.
func guess(req *agent.ModelRequest) int {
	return tokens.Request(req.System, req.Tools, req.Messages)
}

// stream is an answer whose events are these.
func stream(req *http.Request, events string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(events)),
		ContentLength: int64(len(events)),
	}
}

// scribe answers the requests for summaries.
type scribe struct {
	wire         wires.Wire
	calls, bytes int
}

var _ http.RoundTripper = (*scribe)(nil)

// RoundTrip implements [http.RoundTripper].
func (s *scribe) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.calls, s.bytes = s.calls+1, s.bytes+len(body)
	n := 0
	return stream(req, s.wire.Answer(says(summaryText), &n, len(body)/4)), nil
}

// observer stands innermost in the chain and notes what each request is about.
type observer struct{ server *server }

var _ agent.ModelCallWrapper = observer{}

// Name implements [agent.Middleware].
func (observer) Name() string { return "PromptBench" }

// WrapModelCall implements [agent.ModelCallWrapper].
func (o observer) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	at := compaction.Channel.Get(req.State)
	f := facts{turn: o.server.next.turn, compactions: at.Number, tokens: guess(req)}
	for _, t := range req.Tools {
		f.tools = append(f.tools, t.Name)
	}
	for _, m := range req.Messages {
		for _, p := range m.Content {
			if p.Type == message.PartImage {
				f.images++
			}
		}
		if m.Role == message.Human && conversation.Hidden(m) && m.Name != "" && m.Name != "user-input" &&
			!slices.Contains(f.notes, m.Name) {
			f.notes = append(f.notes, m.Name)
		}
	}
	o.server.next = f
	return next(ctx, req)
}
