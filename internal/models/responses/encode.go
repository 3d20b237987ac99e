package responses

import (
	"cmp"
	"strconv"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// leastTokens is the smallest bound of an answer that the API takes.
const leastTokens = 16

// encode writes the request body. Whatever stays the same from call to call comes first, then the input, and behind it
// what belongs to this call alone: so one request's beginning is the next one's.
func (m *Model) encode(req *model.Request) []byte {
	f := m.fields(req)
	b := append(make([]byte, 0, wire.RoomFor(req)), '{')
	b = rawjson.AppendString(wire.AppendKey(b, "model"), m.cfg.Model)
	b = append(wire.AppendKey(b, "stream"), "true"...)
	for _, key := range []string{"instructions", "tools"} {
		if raw := f[key]; len(raw) > 0 {
			b = append(wire.AppendKey(b, key), raw...)
		}
	}
	b = wire.AppendFields(b, f, "model", "stream", "instructions", "tools", "input", "tool_choice")
	b = append(wire.AppendKey(b, "input"), '[')
	b = append(m.input(b, req.Messages), ']')
	if raw := f["tool_choice"]; len(raw) > 0 {
		b = append(wire.AppendKey(b, "tool_choice"), raw...)
	}
	return append(b, '}')
}

// fields are those beside model, stream and input.
func (m *Model) fields(req *model.Request) message.Fields {
	f := message.Fields{"store": []byte("false")}
	if system := m.instructions(req.System); system != "" {
		f["instructions"] = rawjson.AppendString(nil, system)
	}
	if len(req.Tools) > 0 {
		f["tools"] = encodeTools(req.Tools)
		if !m.habits.serial {
			f["parallel_tool_calls"] = []byte("true")
		}
		if req.Settings.NoTools {
			f["tool_choice"] = []byte(`"none"`)
		}
	}
	if !m.habits.plain {
		f["include"] = []byte(`["reasoning.encrypted_content"]`)
	}
	return rawjson.Merge(m.settings(f, req.Settings.Or(m.cfg.Settings)), m.cfg.ExtraBody)
}

// instructions are the system prompt; the ChatGPT backend demands one.
func (m *Model) instructions(system string) string {
	if m.cfg.Codex {
		return cmp.Or(system, "Answer the user.")
	}
	return system
}

// settings adds the fields that the settings ask for.
func (m *Model) settings(f message.Fields, s model.Settings) message.Fields {
	if s.Temperature != nil && !m.cfg.Codex {
		f["temperature"] = strconv.AppendFloat(nil, *s.Temperature, 'g', -1, 64)
	}
	if s.MaxTokens > 0 && !m.cfg.Codex {
		f["max_output_tokens"] = strconv.AppendInt(nil, int64(max(s.MaxTokens, leastTokens)), 10)
	}
	off := s.Thinking != nil && !*s.Thinking
	if off && len(m.cfg.ThinkingOff) > 0 {
		return rawjson.Merge(f, m.cfg.ThinkingOff)
	}
	if reasoning := m.reasoning(s, off); len(reasoning) > 0 {
		f["reasoning"] = rawjson.FromMembers(reasoning)
	}
	if s.Thinking != nil && !off {
		return rawjson.Merge(f, m.cfg.ThinkingOn)
	}
	return f
}

// reasoning is the field of that name; without fields it is not sent. Summaries are asked for as soon as thinking or an
// effort is.
func (m *Model) reasoning(s model.Settings, off bool) message.Fields {
	effort := m.habits.effort(s.Effort)
	switch {
	case m.cfg.Codex:
		effort = codexEffort(s.Effort, off)
	case m.habits.plain:
		return nil
	case off:
		effort = m.habits.least
	case s.Thinking == nil && s.Effort == "":
		return nil
	}
	f := message.Fields{}
	if effort != "" {
		f["effort"] = rawjson.AppendString(nil, effort)
	}
	if !off {
		f["summary"] = []byte(`"auto"`)
	}
	return f
}

// codexEffort is DeerFlow's rule for the ChatGPT backend, which gets an effort with each call.
func codexEffort(word string, off bool) string {
	if off {
		return "none"
	}
	switch word {
	case "low", "medium", "high", "xhigh":
		return word
	}
	return "medium"
}

// encodeTools writes the tools in the flat form of this API. They are not strict: strict schemas forbid optional
// arguments, and the agent checks arguments itself.
func encodeTools(tools []model.Tool) []byte {
	b := []byte{'['}
	for i := range tools {
		b = wire.AppendTool(append(wire.Next(b), `{"type":"function"`...), &tools[i], "parameters")
		b = append(b, `,"strict":false}`...)
	}
	return append(b, ']')
}
