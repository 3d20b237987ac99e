package lead

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Options are what the client of a run chose, in the members of the request's config.configurable and context; the
// context wins. The zero value is the plain agent.
type Options struct {
	agents.Request

	// Agent names a custom agent; empty is the standard one.
	Agent string
	// Plan gives the agent a list of things to do.
	Plan bool
	// Subagents lets the agent give tasks away: at most MaxSubagents in a message (0 means the default) and
	// MaxTotalSubagents in the run (0 means the configured).
	Subagents                       bool
	MaxSubagents, MaxTotalSubagents int
	// NoClarification says that nobody is there who could answer a question.
	NoClarification bool
	// Channel is the way by which the run came, such as "github"; empty is none in particular.
	Channel string
}

// Bounds of the numbers of sub-agents.
const (
	defaultSubagents  = 3
	maxSubagents      = 4
	maxTotalSubagents = 50
)

// ReadOptions reads the config and the context of a request. Members of another type count as absent, since clients
// send their own things there too.
func ReadOptions(config, context json.RawMessage) Options {
	var c struct {
		Configurable json.RawMessage `json:"configurable"`
		Context      json.RawMessage `json:"context"`
	}
	_ = json.Unmarshal(config, &c) // what is no object has none of it
	r := optionReader{}
	for _, raw := range []json.RawMessage{c.Configurable, c.Context, context} {
		if m, ok := rawjson.Members(raw); ok {
			r = append(r, m)
		}
	}
	o := Options{
		Request: agents.Request{
			ModelName: r.text("model_name"), Model: r.text("model"), Thinking: r.maybe("thinking_enabled"),
			Effort: r.text("reasoning_effort"), Bootstrap: r.is("is_bootstrap"),
		},
		Agent: r.text("agent_name"), Plan: r.is("is_plan_mode"), Subagents: r.is("subagent_enabled"),
		MaxSubagents:      r.number("max_concurrent_subagents", defaultSubagents, maxSubagents),
		MaxTotalSubagents: r.number("max_total_subagents", 0, maxTotalSubagents),
		NoClarification:   r.is("disable_clarification"), Channel: r.text("channel_name"),
	}
	return o
}

// optionReader looks a member up in several objects; the last one that has it counts.
type optionReader []map[string]json.RawMessage

func (r optionReader) raw(name string) (raw json.RawMessage) {
	for _, m := range r {
		if v, ok := m[name]; ok && string(v) != "null" {
			raw = v
		}
	}
	return raw
}

func (r optionReader) text(name string) string {
	s, _ := rawjson.String(r.raw(name))
	return s
}

func (r optionReader) maybe(name string) *bool {
	var b bool
	if raw := r.raw(name); string(raw) != "true" && string(raw) != "false" {
		return nil
	} else if string(raw) == "true" {
		b = true
	}
	return &b
}

func (r optionReader) is(name string) bool { return string(r.raw(name)) == "true" }

// number is a whole number from 1 to most; anything less is the default.
func (r optionReader) number(name string, otherwise, most int) int {
	var n int
	if json.Unmarshal(r.raw(name), &n) != nil || n < 1 {
		return otherwise
	}
	return min(n, most)
}
