package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

// tokensPerWrite is what a network would make of tokens that come this fast. One write each would measure the model
// server.
const tokensPerWrite = 50

// tokens measures one long answer and looks whether all of it came.
func (b *bench) tokens(ctx context.Context) (err error) {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	plan := Plan{Tokens: b.sizes.longTokens, Batch: tokensPerWrite}
	d, err := b.newDirect(ctx, s, plan)
	if err != nil {
		return err
	}
	var served, bare []time.Duration
	lost := 0
	for range rounds {
		var messages [][]byte // looked at when the clock has stopped
		got, err := s.run(ctx, plan, func(e event) {
			if string(e.name) == "messages" {
				messages = append(messages, bytes.Clone(e.data))
			}
		})
		if err != nil {
			return err
		}
		text, err := textOf(messages)
		if err != nil {
			return err
		}
		out, err := d.run(ctx)
		if err != nil {
			return err
		}
		lost += lostTokens(text, answerText(plan.Tokens))
		served, bare = append(served, got.took), append(bare, out.took)
	}
	rate := func(took []time.Duration) float64 {
		return float64(plan.Tokens) / measure.Quantile(took, 0.5).Seconds()
	}
	b.table.Add(measure.Figure{Name: fmt.Sprintf("%d tokens, from request to end", plan.Tokens),
		Unit:  measure.PerSecond,
		Value: rate(served), Beside: rate(bare), Goal: &measure.Goal{Limit: 100_000, Least: true}})
	b.table.Add(measure.Errors("tokens lost, doubled or out of place", lost, nil))
	return nil
}

// lostTokens counts the tokens that stand in only one of the two texts, or at another place.
func lostTokens(got, want string) int {
	if got == want {
		return 0
	}
	have, should := strings.Fields(got), strings.Fields(want)
	both := min(len(have), len(should))
	n := max(len(have), len(should)) - both
	for i := range both {
		if have[i] != should[i] {
			n++
		}
	}
	return max(n, 1)
}

// textOf joins the pieces of what the model said, as they come with the stream mode messages-tuple.
func textOf(messages [][]byte) (string, error) {
	var b strings.Builder
	for _, m := range messages {
		pair := []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}{}
		if err := json.Unmarshal(m, &pair); err != nil || len(pair) == 0 {
			return "", fmt.Errorf("event messages: %.200q is not [message, metadata]: %w", m, err)
		}
		if c := pair[0]; c.Type == "AIMessageChunk" || c.Type == "ai" {
			b.WriteString(contentText(c.Content))
		}
	}
	return b.String(), nil
}

// contentText is the content if it is a string, else that of its blocks.
func contentText(content json.RawMessage) (s string) {
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &blocks) // content of another shape has no text
	for _, b := range blocks {
		s += b.Text
	}
	return s
}
