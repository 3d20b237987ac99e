package openai

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// event is one event of a stream, or a whole answer. What may come in several shapes stays raw until it is looked at.
type event struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// Who answers; every event repeats it.
	ID          json.RawMessage `json:"id"`
	Model       json.RawMessage `json:"model"`
	Fingerprint json.RawMessage `json:"system_fingerprint"`
}

// decode reads data into ev, whose memory it uses again. What stays raw may share the memory of data.
func (ev *event) decode(data []byte) error {
	ev.reset()
	if common(data, ev) {
		return nil
	}
	ev.reset()
	return rawjson.Unmarshal(data, ev)
}

func (ev *event) reset() {
	clear(ev.Choices)
	*ev = event{Choices: ev.Choices[:0]}
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"` // in place of delta, in a whole answer; beside it, it says the same again
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"` // some servers put it here
}

type delta struct {
	Content          json.RawMessage   `json:"content"`
	Refusal          json.RawMessage   `json:"refusal"`
	ReasoningContent json.RawMessage   `json:"reasoning_content"`
	Reasoning        json.RawMessage   `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []json.RawMessage `json:"tool_calls"`
	FunctionCall     json.RawMessage   `json:"function_call"` // of servers from before tool_calls
}

// says reports whether a delta has anything of the message.
func (d *delta) says() bool {
	for _, raw := range [...]json.RawMessage{d.Content, d.Refusal, d.ReasoningContent, d.Reasoning, d.FunctionCall} {
		if says(raw) {
			return true
		}
	}
	return len(d.ReasoningDetails) > 0 || len(d.ToolCalls) > 0
}

// says reports whether a field has a value that is not empty.
func says(raw json.RawMessage) bool { return !rawjson.IsNull(raw) && string(raw) != `""` }

// firstSaid is the first of two fields that has a value.
func firstSaid(a, b json.RawMessage) json.RawMessage {
	if says(a) {
		return a
	}
	return b
}

// blocks are the content if it is a list, else nil.
func (d *delta) blocks() []block {
	if len(d.Content) == 0 || d.Content[0] != '[' {
		return nil
	}
	list := []block{}
	_ = rawjson.Unmarshal(d.Content, &list)
	return list
}

// usage has the fields of all vendors.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	PromptInfo struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionInfo struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached   int `json:"cached_tokens"`           // Moonshot
}

// add takes over the counters that an event has, which are totals so far, and returns what is known then; nil if there
// is nothing new. Usage may come with every event, twice at the end, or one half after the other.
func (u *usage) add(v *usage) *message.Usage {
	if v == nil {
		return nil
	}
	for _, c := range [...]struct {
		old *int
		n   int
	}{{&u.Prompt, v.Prompt}, {&u.Completion, v.Completion}, {&u.Total, v.Total},
		{&u.PromptInfo.Cached, v.PromptInfo.Cached},
		{&u.PromptInfo.Written, v.PromptInfo.Written}, {&u.CompletionInfo.Reasoning, v.CompletionInfo.Reasoning},
		{&u.CacheHit, v.CacheHit}, {&u.Cached, v.Cached}} {
		if c.n != 0 {
			*c.old = c.n
		}
	}
	return u.counts()
}

// counts translates the usage. Some vendors count reasoning beside the completion; their total tells.
func (u *usage) counts() *message.Usage {
	c := &message.Usage{
		InputTokens:   u.Prompt,
		OutputTokens:  u.Completion,
		CacheRead:     max(u.PromptInfo.Cached, u.CacheHit, u.Cached),
		CacheCreation: u.PromptInfo.Written,
		Reasoning:     u.CompletionInfo.Reasoning,
	}
	if c.Reasoning > 0 && u.Total == u.Prompt+u.Completion+c.Reasoning {
		c.OutputTokens += c.Reasoning
	}
	c.TotalTokens = max(u.Total, c.InputTokens+c.OutputTokens)
	return c
}

// typeThinking is the type of a block of a content list that holds reasoning.
const typeThinking = "thinking"

// block is an entry of a content list or of reasoning_details.
type block struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Summary  json.RawMessage `json:"summary"`
	Thinking json.RawMessage `json:"thinking"`
}
