package anthropic

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
)

// event is one event of a stream, with the fields of all types.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	ContentBlock contentBlock    `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        usage           `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

// whole is an answer that is not streamed, or an error in its place.
type whole struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	Model       string          `json:"model"`
	Content     []contentBlock  `json:"content"`
	StopReason  string          `json:"stop_reason"`
	StopDetails json.RawMessage `json:"stop_details"`
	Usage       usage           `json:"usage"`
	Error       json.RawMessage `json:"error"`
}

// contentBlock is the beginning of a block, or a whole one.
type contentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// delta is a piece of a block, or the end of the message.
type delta struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	PartialJSON string          `json:"partial_json"`
	StopReason  string          `json:"stop_reason"`
	StopDetails json.RawMessage `json:"stop_details"`
}

// usage counts tokens so far. The API counts cached input beside input_tokens.
type usage struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	OutputDetails struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// add takes over the counters that an event has; they are totals so far.
func (u *usage) add(v *usage) {
	for _, c := range []struct {
		old *int
		n   int
	}{{&u.Input, v.Input}, {&u.Output, v.Output}, {&u.CacheRead, v.CacheRead}, {&u.CacheCreation, v.CacheCreation},
		{&u.OutputDetails.Thinking, v.OutputDetails.Thinking}} {
		if c.n > 0 {
			*c.old = c.n
		}
	}
}

func (u *usage) counts() *message.Usage {
	in := u.Input + u.CacheRead + u.CacheCreation
	return &message.Usage{InputTokens: in, OutputTokens: u.Output, TotalTokens: in + u.Output,
		CacheRead: u.CacheRead, CacheCreation: u.CacheCreation, Reasoning: u.OutputDetails.Thinking}
}
