package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// tokensPerWrite is what a network would make of tokens that come this fast. One write each would measure the model server.
const tokensPerWrite = 50

var tokensGoal = &goal{limit: 100_000, least: true}

// tokens measures one long answer and looks whether all of it came.
func (b *bench) tokens(ctx context.Context) (err error) {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	plan := Plan{Tokens: b.sizes.longTokens, Batch: tokensPerWrite}
	d, err := s.newDirect(ctx, b.model, plan)
	if err != nil {
		return err
	}
	var served, bare []time.Duration
	lost := 0
	for range b.sizes.rounds + 1 { // the first warms up
		got, took, err := s.client.record(ctx, plan)
		if err != nil {
			return err
		}
		n, err := lostTokens(got, answerText(plan.Tokens))
		if err != nil {
			return err
		}
		out, err := d.run(ctx)
		if err != nil {
			return err
		}
		lost += n
		served, bare = append(served, took), append(bare, out.took)
	}
	rate := func(took []time.Duration) float64 {
		measured := slices.Sorted(slices.Values(took[1:]))
		return float64(plan.Tokens) / quantile(measured, 0.5).Seconds()
	}
	name := fmt.Sprintf("%d tokens, from request to end", plan.Tokens)
	b.report.add(Figure{Name: name, Value: rate(served), Direct: rate(bare), Unit: "/s"}, tokensGoal)
	b.report.errors("tokens lost, doubled or out of place", lost, nil)
	return nil
}

// record reads a run's stream to its end and keeps the data of its messages, to be looked at when the clock has stopped.
func (c *client) record(ctx context.Context, p Plan) (messages [][]byte, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, oneTimeout)
	defer cancel()
	start := time.Now()
	thread, err := c.newThread(ctx)
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.start(ctx, thread, "stream", p)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	r := newFrameReader(resp.Body)
	defer r.release()
	kept := make([]byte, 0, 16<<20)
	for {
		f, err := r.next()
		if err == io.EOF {
			if took == 0 {
				took = time.Since(start)
			}
			return bytes.Split(bytes.TrimSuffix(kept, []byte("\n")), []byte("\n")), took, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the run's stream: %w", err)
		}
		switch string(f.event) {
		case "messages":
			kept = append(append(kept, f.data...), '\n') // JSON on the wire has no line breaks
		case "end":
			took = time.Since(start)
		case "error", "gap":
			return nil, 0, fmt.Errorf("the run's stream has an event %s: %.300s", f.event, f.data)
		}
	}
}

// lostTokens counts the tokens that stand in only one of the two texts, or at another place.
func lostTokens(messages [][]byte, want string) (int, error) {
	got, err := textOf(messages)
	if err != nil {
		return 0, err
	}
	if got == want {
		return 0, nil
	}
	have, should := strings.Fields(got), strings.Fields(want)
	n := max(len(have), len(should)) - min(len(have), len(should))
	for i := range min(len(have), len(should)) {
		if have[i] != should[i] {
			n++
		}
	}
	return max(n, 1), nil
}

// chunk is a piece of a message as it comes with the stream mode messages-tuple.
type chunk struct {
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
}

// textOf joins the pieces of what the model said.
func textOf(messages [][]byte) (string, error) {
	var b strings.Builder
	for _, m := range messages {
		var pair []json.RawMessage
		if err := json.Unmarshal(m, &pair); err != nil || len(pair) == 0 {
			return "", fmt.Errorf("event messages: %.200q is not [message, metadata]", m)
		}
		var c chunk
		if err := json.Unmarshal(pair[0], &c); err != nil {
			return "", fmt.Errorf("event messages: %.200q: %w", pair[0], err)
		}
		if c.Type == "AIMessageChunk" || c.Type == "ai" {
			b.WriteString(c.text())
		}
	}
	return b.String(), nil
}

// text is the content if it is a string, else that of its blocks.
func (c chunk) text() (s string) {
	if json.Unmarshal(c.Content, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(c.Content, &blocks) // content of another shape has no text
	for _, b := range blocks {
		s += b.Text
	}
	return s
}
