// Package model is the contract of a chat model: a [Request] goes in, a stream of message chunks comes out. Providers
// implement [ChatModel]; the suite in model/modeltest is what they must pass. Nothing retries here: an [Error] says
// what went wrong and whether another try may help, and one place of the agent decides.
package model

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/pudu-ai/pudu/message"
)

// ChatModel is a language model that answers a conversation.
type ChatModel interface {
	// Name is "provider/model", for people.
	Name() string
	// Stream sends the request and yields the answer piece by piece. A failure is the last pair, an [*Error] with a
	// zero chunk, also when the stream ends without a finish reason; after it, or when the consumer stops, the
	// connection is released. Cancelling ctx ends the stream with the context's error.
	Stream(ctx context.Context, req *Request) iter.Seq2[message.Chunk, error]
}

// Request is one model call. A provider does not change it.
type Request struct {
	// System is the system prompt; messages of role system inside Messages are sent too, each as the provider can.
	System   string
	Messages []message.Message
	Tools    []Tool
	Settings Settings
}

// Tool is what the model is told about a tool.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of an object; empty means no arguments
}

// Settings tune a call. The zero value leaves everything to the provider.
type Settings struct {
	Temperature *float64
	// MaxTokens bounds the answer; 0 means the model's own limit.
	MaxTokens int
	// Thinking turns reasoning on or off where the model can; nil leaves the default.
	Thinking *bool
	// Effort is one of [Efforts] where the model knows efforts; empty leaves the default.
	Effort string
	// NoTools forbids tool calls although Tools are shown, so that a provider's cache of the tools stays good.
	NoTools bool
}

// Or is s with what it leaves open taken from def. NoTools is about one call: it has no default.
func (s Settings) Or(def Settings) Settings {
	if s.Temperature == nil {
		s.Temperature = def.Temperature
	}
	if s.MaxTokens <= 0 {
		s.MaxTokens = def.MaxTokens
	}
	if s.Thinking == nil {
		s.Thinking = def.Thinking
	}
	if s.Effort == "" {
		s.Effort = def.Effort
	}
	return s
}

// Collect drains a stream into one message. On error it returns what had come so far with it, so that a cancelled
// answer can be kept; who wants the chunks too uses [message.Builder].
func Collect(seq iter.Seq2[message.Chunk, error]) (message.Message, error) {
	var b message.Builder
	for c, err := range seq {
		if err != nil {
			return b.Message(), err
		}
		b.Add(c)
	}
	return b.Message(), nil
}

// Efforts are the words for how hard a model thinks, the least first. Models know some of them.
func Efforts() []string { return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} }
