// Package agenttest runs an agent with a model that is played, for the tests of middlewares. A [Thread] is a
// conversation with the agent, whose runs go through the real loop; its [Model] gives the answers that the test has
// written down, and keeps what it was asked.
package agenttest

import (
	"context"
	"iter"
	"math"
	"sync"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Model gives the answers that it was told, one a request, and keeps the requests. The zero value says "done".
type Model struct {
	// Answers are given one after the other. More can be added between runs.
	Answers [][]message.Chunk
	// Last is the answer when none is left; nil says "done".
	Last []message.Chunk
	// ByHistory tells by the number of answers in the request which one comes next, and not by the number of requests,
	// so that a run can go on at any of its steps. A request without tools gets the Last.
	ByHistory bool
	// Requests are all that it was asked, in order. They are read between runs.
	Requests []model.Request

	mu sync.Mutex
}

var _ model.ChatModel = (*Model)(nil)

// Name implements [model.ChatModel].
func (*Model) Name() string { return "test/played" }

// Stream implements [model.ChatModel].
func (m *Model) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	chunks := m.next(req)
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (m *Model) next(req *model.Request) []message.Chunk {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.Requests)
	m.Requests = append(m.Requests, *req)
	if m.ByHistory {
		n = given(req)
	}
	switch {
	case n < len(m.Answers):
		return m.Answers[n]
	case m.Last != nil:
		return m.Last
	}
	return Say("done")
}

// given is how many answers are behind a request: those that it holds, or all of them if it allows no tools.
func given(req *model.Request) (n int) {
	if req.Settings.NoTools {
		return math.MaxInt
	}
	for _, m := range req.Messages {
		if m.Role == message.AI {
			n++
		}
	}
	return n
}
