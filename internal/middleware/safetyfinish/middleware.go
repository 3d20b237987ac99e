// Package safetyfinish handles answers that the model's provider stopped for their content. Tool calls in such an
// answer may be halves of what was meant, so none of them runs, and an answer without words would make strict providers
// refuse every later request of the thread: both get a sentence that says what happened. An answer that has words and
// calls nothing stays as it is.
package safetyfinish

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
)

// Config tunes the middleware.
type Config struct {
	// Detectors tell the answers that were stopped; none means one for each kind.
	Detectors []Detector
}

// Names on the wire.
const (
	// Reason is the stop_reason of a run that ends with such an answer.
	Reason = "safety_capped"
	// Key is the additional_kwargs key, and the type of the custom event, of what was found.
	Key = "safety_termination"
)

// Middleware looks at each answer before it becomes part of the conversation, so that nobody gets to see its calls as
// calls of this thread.
type Middleware struct{ detectors []Detector }

var _ agent.ModelCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New(cfg Config) *Middleware {
	if len(cfg.Detectors) == 0 {
		cfg.Detectors = builtIn()
	}
	return &Middleware{detectors: cfg.Detectors}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "SafetyFinishReasonMiddleware" }

// WrapModelCall implements [agent.ModelCallWrapper].
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	resp, err := next(ctx, req)
	if err != nil {
		return nil, err
	}
	found, ok := find(m.detectors, &resp.Message)
	asks := resp.Message.AsksForTools()
	if !ok || !asks && strings.TrimSpace(resp.Message.Text()) != "" {
		return resp, nil
	}
	term := newTermination(found, &resp.Message)
	safe := *resp
	safe.Message = explained(&resp.Message, explanation(found, asks))
	safe.Message.Kwargs = withField(safe.Message.Kwargs, Key, term)
	safe.Update = resp.Update.With(agent.Ended(req.Runtime, req.State, Reason))
	announce(req.Runtime, term)
	return &safe, nil
}

func explanation(found finding, asks bool) string {
	text := fmt.Sprintf("The model's provider stopped this answer for safety reasons (%s: %s).", found.field,
		found.value)
	if asks {
		text += " The tool calls in it were not run."
	}
	return text + " Rephrase the request or use another model to go on."
}

// explained returns the message without calls, with the explanation behind its words.
func explained(m *message.Message, text string) message.Message {
	out := m.WithoutCalls()
	n := len(out.Content) - 1
	if n < 0 || out.Content[n].Type != message.PartText {
		out.Content = append(slices.Clip(out.Content), message.Text(text))
		return out
	}
	out.Content = slices.Clone(out.Content)
	if said := strings.TrimRight(out.Content[n].Text, " \t\r\n"); said != "" {
		text = said + "\n\n" + text
	}
	out.Content[n].Text = text
	return out
}

// termination is what clients are told.
type termination struct {
	Detector    string   `json:"detector"`
	ReasonField string   `json:"reason_field"`
	ReasonValue string   `json:"reason_value"`
	Count       int      `json:"suppressed_tool_call_count"`
	Names       []string `json:"suppressed_tool_call_names"`
}

func newTermination(found finding, m *message.Message) termination {
	names := callNames(m)
	return termination{
		Detector: found.detector, ReasonField: found.field, ReasonValue: found.value, Count: len(names), Names: names,
	}
}

// callNames returns the name of each call, of one that only a provider's own copy has too. Never nil.
func callNames(m *message.Message) []string {
	names := []string{}
	for _, c := range m.ToolCalls {
		names = append(names, c.Name)
	}
	for _, c := range m.InvalidToolCalls {
		names = append(names, c.Name)
	}
	if len(names) > 0 {
		return names
	}
	var raw []struct {
		Function struct{ Name string }
	}
	_ = json.Unmarshal(m.Kwargs["tool_calls"], &raw) // a copy of another shape has no names to tell
	for _, c := range raw {
		names = append(names, c.Function.Name)
	}
	var one struct{ Name string }
	if json.Unmarshal(m.Kwargs["function_call"], &one) == nil && one.Name != "" {
		names = append(names, one.Name)
	}
	return names
}

// announce shows the custom event.
func announce(rt *agent.Runtime, t termination) {
	raw, err := json.Marshal(struct {
		Type     string `json:"type"`
		ThreadID string `json:"thread_id"`
		termination
	}{Key, rt.ThreadID, t})
	if err == nil { // strings always encode
		rt.Emit(agent.NodeModel, event.Custom{Value: raw})
	}
}

func withField(f message.Fields, key string, v any) message.Fields {
	raw, err := json.Marshal(v)
	if err != nil { // strings always encode
		return f
	}
	out := message.Fields{key: raw}
	for k, old := range f {
		if k != key {
			out[k] = old
		}
	}
	return out
}
