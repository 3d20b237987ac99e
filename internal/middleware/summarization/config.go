package summarization

import (
	"cmp"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
)

// Config says when to compact and how. With its zero value and a RunModel nothing happens by itself, but that a request
// which the provider finds too long is made shorter and sent again.
type Config struct {
	// RunModel is the model of the run. It writes the summaries that Model does not.
	RunModel model.ChatModel
	// Model writes the summaries; nil means RunModel.
	Model model.ChatModel
	// RunModelName and ModelName are their names in the configuration, under which the tokens of summaries are counted.
	RunModelName, ModelName string
	// Window is how many tokens RunModel takes, request and answer together; 0 means unknown. When it is known, no
	// larger request is sent.
	Window int
	// ModelWindow is the same of Model; 0 means unknown.
	ModelWindow int
	// MaxAnswer is how much of the window is left free for the answer, at most a quarter; 0 means an eighth, at most
	// 8,192.
	MaxAnswer int
	// Trigger starts a compaction when any of its amounts is reached; the zero value means never by itself.
	Trigger Amount
	// Keep is how much of the end stays; the zero value means 20 messages. Less stays if so much is too large.
	Keep Amount
	// TrimTokens is how much the summarizing model is shown at once; there are as many calls as it takes to show it
	// all. 0 means as much as its window allows.
	TrimTokens int
	// Prompt replaces the built-in instructions to the summarizing model; empty leaves them.
	Prompt string
	// Files take the tool results that are shortened; nil: what is left out of one is only in the thread's history.
	Files *sandbox.Files
	// Timeout bounds each call of a summarizing model; 0 means two minutes.
	Timeout time.Duration
}

// Amount is an amount of conversation. As a trigger each of its numbers counts, as what is kept the first that is not
// 0.
type Amount struct {
	Messages int
	// Tokens are those of the whole request, as a trigger, or of the messages kept.
	Tokens int
	// Fraction is that of the window; without a known window it counts as 0.
	Fraction float64
}

// AmountOf turns thresholds of the configuration into an amount. Of two of one type the smaller counts.
func AmountOf(list ...config.Threshold) Amount {
	var a Amount
	for _, t := range list {
		switch t.Type {
		case "messages":
			a.Messages = least(a.Messages, int(t.Value))
		case "tokens":
			a.Tokens = least(a.Tokens, int(t.Value))
		case "fraction":
			a.Fraction = least(a.Fraction, t.Value)
		}
	}
	return a
}

// least is the smaller of two numbers of which 0 is none.
func least[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}

const (
	defaultKeep    = 20
	defaultTimeout = 2 * time.Minute
	mostReserve    = 8192
)

// hard is the size of the largest request that may be sent; 0 means unknown.
func (c *Config) hard() int {
	reserve := min(c.Window/8, mostReserve)
	if c.MaxAnswer > 0 {
		reserve = min(c.MaxAnswer, c.Window/4)
	}
	return c.Window - reserve
}

// trigger is the size in tokens at which a compaction starts; 0 means that size starts none.
func (c *Config) trigger() int {
	return least(c.Trigger.Tokens, int(c.Trigger.Fraction*float64(c.Window)))
}

// goal is the size that a compaction aims at: far enough below what started it that the next one is not due at once.
// 0 means that size does not matter.
func (c *Config) goal() int { return least(c.trigger(), c.hard()) * 6 / 10 }
