package config

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// thinking merges the shortcut into what thinking turns on.
func (m *Model) thinking(d *decoder, at string) {
	for _, part := range []struct {
		key string
		raw json.RawMessage
	}{{"when_thinking_enabled", m.ThinkingOn}, {"when_thinking_disabled", m.ThinkingOff}, {"thinking", m.Thinking},
		{"extra_body", m.ExtraBody}, {"model_kwargs", given(m.Extra["model_kwargs"])}} {
		if !isObject(part.raw) {
			d.failf(m.Line, at+"."+part.key, "must be a table of keys")
			return
		}
	}
	if m.Thinking == nil {
		return
	}
	on := object(m.ThinkingOn)
	inner := object(on["thinking"])
	maps.Copy(inner, object(m.Thinking))
	on["thinking"] = encode(inner)
	m.ThinkingOn, m.Thinking = encode(on), nil
}

// ThinkingBodies are the fields of a request with thinking on and with thinking off that the entry asks for, as they
// stand in the request's body. Nil leaves the switch to the provider. A DeerFlow entry holds arguments of a Python
// class: those are brought to the fields that the class makes of them.
//
// What is off follows from what is on, unless the entry says it: {"thinking": {"type": …}} becomes disabled, the
// switches of vLLM's chat template false, and an effort the least. A reasoning effort counts only if the model takes
// one.
func (m *Model) ThinkingBodies() (on, off map[string]json.RawMessage) {
	if m.ThinkingOn != nil {
		on = m.body(object(m.ThinkingOn))
	}
	switch {
	case m.ThinkingOff != nil:
		off = m.body(object(m.ThinkingOff))
	case m.ThinkingOn != nil:
		if args := switchedOff(object(m.ThinkingOn)); args != nil {
			off = m.body(args)
		}
	case m.Provider == "codex":
		off = m.body(map[string]json.RawMessage{"reasoning_effort": json.RawMessage(`"none"`)})
	}
	return on, off
}

// disabled switches thinking off for the many APIs that have it as an object with a type.
var disabled = json.RawMessage(`{"type":"disabled"}`)

// switchedOff derives the arguments that turn thinking off from those that turn it on; nil if they have no known
// switch.
func switchedOff(on map[string]json.RawMessage) map[string]json.RawMessage {
	extra := object(on["extra_body"])
	if text(object(extra["thinking"])["type"]) != "" {
		body := encode(map[string]json.RawMessage{"thinking": disabled})
		return map[string]json.RawMessage{"extra_body": body, "reasoning_effort": json.RawMessage(`"minimal"`)}
	}
	flags := map[string]json.RawMessage{}
	for _, name := range []string{"thinking", "enable_thinking"} {
		if _, ok := object(extra["chat_template_kwargs"])[name]; ok {
			flags[name] = json.RawMessage("false")
		}
	}
	if len(flags) > 0 {
		body := encode(map[string]json.RawMessage{"chat_template_kwargs": encode(flags)})
		return map[string]json.RawMessage{"extra_body": body}
	}
	if text(object(on["thinking"])["type"]) != "" {
		return map[string]json.RawMessage{"thinking": disabled}
	}
	return nil
}

// body brings the arguments of a class to the fields of the request's body.
func (m *Model) body(args map[string]json.RawMessage) map[string]json.RawMessage {
	body := rawjson.Stack(object(given(args["model_kwargs"])), object(given(args["extra_body"])))
	for name, value := range args {
		if given(value) == nil {
			continue
		}
		if fields := m.field(name, value); fields != nil {
			body = rawjson.Stack(fields, body)
		}
	}
	if len(body) == 0 {
		return nil
	}
	return body
}

// field is what one argument adds to the body; nil is nothing.
func (m *Model) field(name string, value json.RawMessage) map[string]json.RawMessage {
	switch name {
	case "extra_body", "model_kwargs", "timeout", "request_timeout", "max_retries", "default_headers", "base_url",
		"api_base", "api_key",
		"streaming", "stream_usage", "use_responses_api", "output_version", "include_thoughts", "betas":
		return nil // of the client, or merged already
	case "reasoning_effort", "effort":
		if !m.SupportsReasoningEffort && m.Provider != "codex" {
			return nil
		}
	case "reasoning":
		if value[0] != '{' {
			return m.switchWord(value)
		}
	}
	if m.Wire == WireGemini && (name == "thinking_level" || strings.HasSuffix(name, "effort")) {
		value = rawjson.AppendString(nil, strings.ToUpper(text(value))) // the levels of its API
	}
	return nest(m.place(name), value)
}

// switchWord is the argument "reasoning" of Ollama's class, which is no table: the provider knows how to think, so only
// what differs is said.
func (m *Model) switchWord(value json.RawMessage) map[string]json.RawMessage {
	switch {
	case string(value) == "false":
		return nest([]string{"reasoning_effort"}, json.RawMessage(`"none"`))
	case text(value) != "":
		return nest([]string{"reasoning_effort"}, value)
	}
	return nil
}

// place is the path of an argument in the body of the wire.
func (m *Model) place(name string) []string {
	switch m.Wire {
	case WireResponses:
		switch name {
		case "reasoning_effort", "effort":
			return []string{"reasoning", "effort"}
		case "max_tokens", "max_completion_tokens":
			return []string{"max_output_tokens"}
		}
	case WireAnthropic:
		switch name {
		case "reasoning_effort", "effort":
			return []string{"output_config", "effort"}
		case "stop":
			return []string{"stop_sequences"}
		}
	case WireGemini:
		return geminiPlace(name)
	default:
		switch {
		case name == "max_tokens" && (m.Provider == "openai" || m.Provider == "azure") && m.Dialect == m.ownDialect():
			return []string{"max_completion_tokens"}
		case name == "reasoning_effort" && m.Provider == "openrouter":
			return []string{"reasoning", "effort"}
		}
	}
	return []string{name}
}

// ownDialect is the dialect of the provider's own service.
func (m *Model) ownDialect() string {
	p, _ := provider(m.Provider)
	return p.Dialect
}

// geminiPlace is the path of an argument of Google's class in the body of generateContent.
func geminiPlace(name string) []string {
	switch name {
	case "reasoning_effort", "effort", "thinking_level":
		return []string{"generationConfig", "thinkingConfig", "thinkingLevel"}
	case "thinking_budget":
		return []string{"generationConfig", "thinkingConfig", "thinkingBudget"}
	case "max_tokens", "max_output_tokens":
		return []string{"generationConfig", "maxOutputTokens"}
	case "stop":
		return []string{"generationConfig", "stopSequences"}
	case "temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty":
		first, rest, _ := strings.Cut(name, "_")
		if rest != "" {
			rest = strings.ToUpper(rest[:1]) + rest[1:]
		}
		return []string{"generationConfig", first + rest}
	}
	return []string{name}
}

func nest(path []string, value json.RawMessage) map[string]json.RawMessage {
	for i := len(path) - 1; i > 0; i-- {
		value = encode(map[string]json.RawMessage{path[i]: value})
	}
	return map[string]json.RawMessage{path[0]: value}
}

func isTable(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func isObject(raw json.RawMessage) bool { return raw == nil || len(raw) > 0 && raw[0] == '{' }

// object decodes a JSON object that [tree.json] made; nothing gives an empty one.
func object(raw json.RawMessage) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	if isObject(raw) && raw != nil {
		_ = json.Unmarshal(raw, &m) // cannot fail: it came from json.Marshal
	}
	return m
}

func encode(m map[string]json.RawMessage) json.RawMessage {
	data, err := json.Marshal(m)
	if err != nil {
		return nil // not reached: the values came from json.Marshal
	}
	return data
}

// given is nil for what is null.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
