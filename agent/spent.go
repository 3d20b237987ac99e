package agent

import (
	"sync"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Spent is what a run has used so far, without the runs below it: they have theirs. The zero value is a run that has
// asked no model.
type Spent struct {
	// Usage are the tokens of all its model calls.
	message.Usage
	// Calls is how many of its model calls have told their tokens: the loop's, and those beside it.
	Calls int
	// Beside are the tokens of the calls beside the loop's own, such as those for a summary or a title. They are part
	// of TotalTokens.
	Beside int
	// Said is how many messages the run has added to the conversation: the user's, the model's and the tools', without
	// hidden ones.
	Said int
}

// Add returns the sum.
func (s Spent) Add(t Spent) Spent {
	return Spent{Usage: s.Usage.Add(t.Usage), Calls: s.Calls + t.Calls, Beside: s.Beside + t.Beside,
		Said: s.Said + t.Said}
}

// spending adds up what a run uses, whose calls may come side by side.
type spending struct {
	mu    sync.Mutex
	total Spent
}

func (s *spending) add(t Spent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total = s.total.Add(t)
}

// beside adds a call that is not the loop's own.
func (s *spending) beside(u message.Usage) { s.add(Spent{Usage: u, Calls: 1, Beside: u.TotalTokens}) }

func (s *spending) sum() Spent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// said counts what an update adds to the conversation.
func said(u state.Update) (n int) {
	for _, m := range Messages.Appended(u) {
		if m.Role != message.System && !conversation.Hidden(m) {
			n++
		}
	}
	return n
}
