// Package prompts measures what the lead agent costs in prompt tokens: `pudu-bench prompt`. It drives the real agent,
// with its whole chain, real files and a real store, through two conversations, and looks at the requests as the
// provider encodes them, byte for byte. Only the model is played: its server answers from a script and keeps each body.
// One conversation is long (script.go); in the other facts, skills, sub-agents and what a person says meanwhile change
// (changing.go).
//
// A provider's cache serves the part of a request that it has seen before, from the first byte on. So what counts is
// how much of each request is the beginning of the next one (compare.go), and how large the part is that every request
// has (fixed.go).
package prompts

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/model/tokens"
)

// Config says how to measure. Its zero value is fine.
type Config struct {
	// Dir is where a temporary folder is made; empty means the system's.
	Dir string
	// Wire is what the conversations are sent over; the zero value is the first of [wires.All].
	// The fixed prompt is measured on that one.
	Wire wires.Wire
	// Count counts the tokens of a text; nil means package tokens, which guesses.
	Count func(string) int
}

// Report is what was measured.
type Report struct {
	Fixed []Fixed
	// Long is the long conversation, Changing the one in which much changes.
	Long, Changing Conversation
}

// Conversation is what was measured of one.
type Conversation struct {
	Name  string
	Turns []Turn
	// Goal is how much of all that is sent should begin like the request before, in percent; 0 if there is none.
	Goal float64
	// Breaks are the requests that do not begin with the one before them.
	Breaks []Break
	// Notes are the names of the program's own messages that the conversation came to hold, in their order.
	Notes []string
	// SideCalls and SideBytes are the requests for summaries, which are no part of the conversation.
	SideCalls, SideBytes int

	exchanges []exchange
}

// Run measures. It needs no network, and takes about a second.
func Run(ctx context.Context, c Config) (*Report, error) {
	if c.Count == nil {
		c.Count = tokens.Text
	}
	if c.Wire.Name == "" {
		c.Wire = wires.All()[0]
	}
	r := &Report{}
	if err := r.measureFixed(ctx, c); err != nil {
		return nil, fmt.Errorf("fixed prompt: %w", err)
	}
	var err error
	if r.Long, err = converse(ctx, c, "a long conversation", scenarioSettings(c.Wire), scenario()); err != nil {
		return nil, err
	}
	r.Changing, err = converse(ctx, c, "one in which much changes", changingSettings(c.Wire), changing())
	r.Changing.Goal = reuseGoal
	return r, err
}

// converse measures a conversation.
func converse(ctx context.Context, c Config, name string, s settings, turns []turn) (v Conversation, err error) {
	v.Name = name
	err = within(ctx, c.Dir, s, func(k *setup) error {
		for i, t := range turns {
			if err := k.play(ctx, i, t); err != nil {
				return fmt.Errorf("%s: turn %d (%s): %w", name, i+1, t.name, err)
			}
		}
		v.compare(c.Wire, k.sent.exchanges, turns)
		v.SideCalls, v.SideBytes = k.side.calls, k.side.bytes
		return nil
	})
	return v, err
}

// within makes a setup in a folder of its own for do, and clears everything away.
func within(ctx context.Context, dir string, s settings, do func(*setup) error) (err error) {
	if dir, err = os.MkdirTemp(dir, "pudu-prompt-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	k, err := newSetup(ctx, dir, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	return do(k)
}
