package prompts

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
)

// helper is the model's side of the sub-agents, which come side by side: each finds something at once. While the first
// one of a turn is at work the user may say something to the lead, who waits for it; then it goes on when the lead has
// heard of that.
type helper struct {
	wire wires.Wire
	lead *server
	say  func(ctx context.Context, text string) error

	mu    sync.Mutex
	word  string // that is still to be said in this turn
	calls int
}

var _ http.RoundTripper = (*helper)(nil)

func (h *helper) begin(word string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.word = word
}

// RoundTrip implements [http.RoundTripper].
func (h *helper) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := h.interrupt(req.Context()); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return stream(req, h.wire.Answer(says(found), &h.calls, len(body)/4)), nil
}

func (h *helper) interrupt(ctx context.Context) error {
	h.mu.Lock()
	word := h.word
	h.word = ""
	h.mu.Unlock()
	if word == "" {
		return nil
	}
	moved := h.lead.moved()
	if err := h.say(ctx, word); err != nil {
		return err
	}
	select {
	case <-moved:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const found = "In numbers.csv there are 40 weeks. The most ships came in week 31, 164 of them, and the longest delay " +
	"was that of week 34, 81 minutes. " +
	"Nothing was changed. Whether the delays are those of all quays the file does not say."
