package toolmeta

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
)

// Keys of additional_kwargs on the result of a task that a sub-agent did.
const (
	// KeySubagentUsage holds the tokens that the sub-agent took: {input_tokens, output_tokens, total_tokens}.
	KeySubagentUsage = "subagent_token_usage"
	// KeySubagentModel is the configured name of the sub-agent's model.
	KeySubagentModel = "subagent_model_name"
	// KeySubagentAttributed is true once those tokens were added to the message that gave the task.
	KeySubagentAttributed = "subagent_token_usage_attributed"
)

// SubagentUsage returns the tokens that a tool message says a sub-agent took; false if it says nothing of the kind.
// Numbers below zero count as zero, and a missing total is the sum.
func SubagentUsage(m message.Message) (message.Usage, bool) {
	raw := m.Kwargs[KeySubagentUsage]
	if m.Role != message.Tool || len(raw) == 0 {
		return message.Usage{}, false
	}
	var u struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return message.Usage{}, false
	}
	in, out := max(u.Input, 0), max(u.Output, 0)
	total := u.Total
	if total <= 0 {
		total = in + out
	}
	return message.Usage{InputTokens: in, OutputTokens: out, TotalTokens: total}, total > 0
}

// SubagentModel is the configured name of the model that a sub-agent used; empty if the message does not say.
func SubagentModel(m message.Message) string {
	var name string
	if raw := m.Kwargs[KeySubagentModel]; len(raw) > 0 && json.Unmarshal(raw, &name) != nil {
		return ""
	}
	return name
}

// SubagentAttributed reports whether the tokens were added to the message that gave the task.
func SubagentAttributed(m message.Message) bool {
	return string(m.Kwargs[KeySubagentAttributed]) == "true"
}
