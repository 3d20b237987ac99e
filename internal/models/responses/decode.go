package responses

import (
	"cmp"
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
)

// event has the fields of all events that count; see the type for which of them one has.
type event struct {
	Type         string `json:"type"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
	SummaryIndex int    `json:"summary_index"`
	Delta        string `json:"delta"`
	// Text, Refusal and Arguments are the whole of what the deltas before have said.
	Text      string          `json:"text"`
	Refusal   string          `json:"refusal"`
	Arguments string          `json:"arguments"`
	Item      json.RawMessage `json:"item"`
	Response  *response       `json:"response"`
	Error     json.RawMessage `json:"error"` // of gateways, and of OpenAI beside what it documents
}

// response is the answer as a whole: the last event brings it, and an answer that is not streamed is one.
type response struct {
	ID         string            `json:"id"`
	Model      string            `json:"model"`
	Tier       string            `json:"service_tier"`
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Usage      *usage            `json:"usage"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// output is one item of an answer.
type output struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	CallID    string    `json:"call_id"`
	Name      string    `json:"name"`
	Arguments string    `json:"arguments"`
	Phase     string    `json:"phase"`
	Encrypted string    `json:"encrypted_content"`
	Summary   []segment `json:"summary"`
	Content   []segment `json:"content"`
}

// segment is a text of an item.
type segment struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type usage struct {
	Input     int `json:"input_tokens"`
	Output    int `json:"output_tokens"`
	Total     int `json:"total_tokens"`
	InputInfo struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputInfo struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *usage) counts() *message.Usage {
	if u == nil {
		return nil
	}
	return &message.Usage{InputTokens: u.Input, OutputTokens: u.Output, TotalTokens: cmp.Or(u.Total, u.Input+u.Output),
		CacheRead: u.InputInfo.Cached, CacheCreation: u.InputInfo.Written, Reasoning: u.OutputInfo.Reasoning}
}
