package anthropic

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// minThinking is the least budget that the API accepts.
const minThinking = 1024

// The kinds of thinking that ask for something here; the API may know others.
const (
	thinkEnabled  = "enabled"
	thinkAdaptive = "adaptive"
	thinkDisabled = "disabled"
)

// written are the fields that no configuration changes: the conversation, which encode.go writes, and that it streams.
var written = []string{"model", "system", "tools", "messages", "stream"}

// options are the fields of a request behind its messages.
type options struct {
	fields message.Fields
	// thinking is the type of thinking that the request asks for; empty leaves it to the model.
	thinking string
}

// options merges the request's settings, the configured ones and the configured fields.
func (m *Model) options(s model.Settings) options {
	s = s.Or(m.cfg.Settings)
	f := message.Fields{"max_tokens": number(cmp.Or(max(s.MaxTokens, 0), DefaultMaxTokens))}
	if s.Temperature != nil {
		f["temperature"] = strconv.AppendFloat(nil, *s.Temperature, 'g', -1, 64)
	}
	if s.Effort != "" {
		f["output_config"] = effort(s.Effort)
	}
	f = rawjson.Merge(rawjson.Merge(f, m.cfg.ExtraBody), m.thinking(s.Thinking))
	for _, name := range written {
		delete(f, name)
	}
	f["stream"] = json.RawMessage("true")
	o := options{fields: f}
	m.settle(&o)
	return o
}

func effort(name string) json.RawMessage {
	if name == "minimal" {
		name = "low"
	}
	return append(rawjson.AppendString([]byte(`{"effort":`), name), '}')
}

// thinking are the fields that turn thinking on or off.
func (m *Model) thinking(on *bool) map[string]json.RawMessage {
	kind := thinkEnabled
	switch {
	case on == nil:
		return nil
	case *on && len(m.cfg.ThinkingOn) > 0:
		return m.cfg.ThinkingOn
	case !*on && len(m.cfg.ThinkingOff) > 0:
		return m.cfg.ThinkingOff
	case !*on:
		kind = thinkDisabled
	case m.cfg.ThinkingBudget == wire.Adaptive:
		kind = thinkAdaptive
	}
	return map[string]json.RawMessage{"thinking": thinkingOf(kind)}
}

func thinkingOf(kind string) json.RawMessage { return json.RawMessage(`{"type":"` + kind + `"}`) }

// settle makes of the merged fields what the API accepts together: a budget belongs to enabled thinking alone and is
// below the answer's bound, nothing goes with disabled thinking, and a temperature only with none.
func (m *Model) settle(o *options) {
	thinking, _ := rawjson.Members(o.fields["thinking"])
	o.thinking, _ = rawjson.String(thinking["type"])
	switch o.thinking {
	case thinkEnabled:
		m.budget(o, thinking)
	case thinkAdaptive:
		delete(thinking, "budget_tokens")
	case thinkDisabled:
		o.disable()
		return
	default:
		return
	}
	o.fields["thinking"] = rawjson.FromMembers(thinking)
	if _, own := m.cfg.ExtraBody["temperature"]; !own {
		delete(o.fields, "temperature")
	}
}

// disable turns thinking off.
func (o *options) disable() {
	o.thinking = thinkDisabled
	o.fields["thinking"] = thinkingOf(thinkDisabled)
}

// budget fits the budget into the answer's bound. One that the configuration names stays, with the bound on top of it
// if it would fill the bound.
func (m *Model) budget(o *options, thinking map[string]json.RawMessage) {
	bound := integer(o.fields["max_tokens"])
	named := integer(thinking["budget_tokens"])
	switch {
	case named >= bound:
		bound += named
	case named == 0:
		bound = max(bound, 2*minThinking)
		most, want := bound/2, cmp.Or(max(m.cfg.ThinkingBudget, 0), DefaultThinkingBudget)
		if m.cfg.AutoThinkingBudget {
			most = bound * 4 / 5
			want = most
		}
		thinking["budget_tokens"] = number(max(minThinking, min(want, most)))
	}
	o.fields["max_tokens"] = number(bound)
}

// invalidField names the first of the configured fields that is no JSON.
func invalidField(cfg Config) string {
	for _, fields := range []map[string]json.RawMessage{cfg.ExtraBody, cfg.ThinkingOn, cfg.ThinkingOff} {
		for name, raw := range fields {
			if !json.Valid(raw) {
				return name
			}
		}
	}
	return ""
}

func number(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// integer is the number that raw is, or 0.
func integer(raw json.RawMessage) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		return 0
	}
	return n
}
