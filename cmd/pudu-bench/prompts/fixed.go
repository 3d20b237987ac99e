package prompts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Fixed is the size of the first request of a conversation in which the user says "hi", in tokens.
type Fixed struct {
	// Name is the mode, Tools how many tools it has.
	Name  string
	Tools int
	// System is the system prompt, Schemas are the tools with their descriptions, Rest is the first message with what the
	// program puts before it. Total is their sum.
	System, Schemas, Rest, Total int
	// Goal is what Total should be at most; 0 if there is none.
	Goal int
}

// Met reports whether the goal is met; true if there is none.
func (f Fixed) Met() bool { return f.Goal == 0 || f.Total <= f.Goal }

// Goals of [Fixed.Total].
const (
	plainGoal = 4500
	fullGoal  = 6500
)

func (r *Report) measureFixed(ctx context.Context, c Config) error {
	for _, mode := range []struct {
		name                    string
		plan, subagents, vision bool
		goal                    int
	}{
		{"plain", false, false, false, plainGoal},
		{"plain, model with vision", false, false, true, plainGoal},
		{"plan", true, false, false, 0},
		{"plan and sub-agents", true, true, false, fullGoal},
		{"plan and sub-agents, vision", true, true, true, fullGoal},
	} {
		err := within(ctx, c.Dir, settings{wire: wires.All()[0], cfg: config.Default(), vision: mode.vision}, func(k *setup) error {
			if err := k.play(ctx, 0, turn{say: "hi", plan: mode.plan, subagents: mode.subagents, answers: []answer{says("Hello!")}}); err != nil {
				return err
			}
			f, err := measure(k.sent.exchanges[0].body, c.Count)
			f.Name, f.Goal = mode.name, mode.goal
			r.Fixed = append(r.Fixed, f)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", mode.name, err)
		}
	}
	return nil
}

// measure counts the tokens of a request.
func measure(body []byte, count func(string) int) (Fixed, error) {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return Fixed{}, fmt.Errorf("read the request: %w", err)
	}
	if len(req.Messages) == 0 || req.Messages[0].Role != "system" {
		return Fixed{}, errors.New("the request does not begin with a system message")
	}
	f := Fixed{Tools: len(req.Tools)}
	var schemas, rest strings.Builder
	for _, t := range req.Tools {
		schemas.Write(t)
	}
	for i, m := range req.Messages {
		text, ok := rawjson.String(m.Content)
		if !ok {
			text = string(m.Content)
		}
		if i == 0 {
			f.System = count(text)
		} else {
			rest.WriteString(text + "\n")
		}
	}
	f.Schemas, f.Rest = count(schemas.String()), count(rest.String())
	f.Total = f.System + f.Schemas + f.Rest
	return f, nil
}
