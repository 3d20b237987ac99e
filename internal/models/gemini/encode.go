package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/history"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Fields of the body that have a place of their own.
const (
	keyContents   = "contents"
	keyToolConfig = "toolConfig"
)

// rules are what the API demands of a conversation. Messages of one role side by side become one content in
// contents.go.
var rules = history.Rules{
	System: history.SystemFirst, UserFirst: true, NoPrefill: true, Blank: history.BlankDropped,
	Images: history.ImagesInResults, Tools: history.Shape{Min: 1, Max: 64, Chars: history.Chars("a-zA-Z0-9_.:-"),
		WordFirst: true},
}

// encode writes the request body. Whatever stays the same from call to call comes first, then the contents, and behind
// them what belongs to this call alone: so one request's beginning is the next one's. It fails only for an image that
// the API cannot take.
func (m *Model) encode(req *model.Request) ([]byte, error) {
	lead := leading(req.Messages)
	fields := m.fields(req, req.Messages[:lead])
	b := append(make([]byte, 0, wire.RoomFor(req)), '{')
	b = wire.AppendFields(b, fields, keyContents, keyToolConfig)
	b = append(wire.AppendKey(b, keyContents), '[')
	c := contents{m: m, b: b}
	for i := lead; i < len(req.Messages); i++ {
		if err := c.add(&req.Messages[i]); err != nil {
			return nil, err
		}
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	b = append(c.b, ']')
	if raw := fields[keyToolConfig]; len(raw) > 0 {
		b = append(wire.AppendKey(b, keyToolConfig), raw...)
	}
	return append(b, '}'), nil
}

// leading counts the system messages at the head: they belong to the system prompt. One that comes later must not
// change the beginning of the request, so it goes out where it stands, in the user's role.
func leading(msgs []message.Message) int {
	n := 0
	for n < len(msgs) && msgs[n].Role == message.System {
		n++
	}
	return n
}

// fields are the members of the body beside the contents, each as JSON, with those of the configuration merged in.
func (m *Model) fields(req *model.Request, lead []message.Message) message.Fields {
	s := req.Settings.Or(m.cfg.Settings)
	overlays := []map[string]json.RawMessage{m.cfg.ExtraBody}
	if s.Thinking != nil && *s.Thinking {
		overlays = append(overlays, m.cfg.ThinkingOn)
	} else if s.Thinking != nil {
		overlays = append(overlays, m.cfg.ThinkingOff)
	}
	f := message.Fields{
		"systemInstruction": system(req.System, lead),
		"tools":             tools(req.Tools),
		"generationConfig":  m.generation(&s, overlays),
	}
	if len(req.Tools) > 0 && req.Settings.NoTools {
		f[keyToolConfig] = json.RawMessage(`{"functionCallingConfig":{"mode":"NONE"}}`)
	}
	for _, o := range overlays {
		f = rawjson.Merge(f, o)
	}
	return f
}

// system is the system prompt with the system messages at the head, each a part.
func system(prompt string, lead []message.Message) json.RawMessage {
	var b []byte
	add := func(text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		if b == nil {
			b = []byte(`{"parts":[`)
		} else {
			b = append(b, ',')
		}
		b = append(appendText(b, text), '}')
	}
	add(prompt)
	for i := range lead {
		add(lead[i].Text())
	}
	if b == nil {
		return nil
	}
	return append(b, "]}"...)
}

// tools are the declarations of functions, the schemas byte for byte. A function without parameters has no schema.
func tools(list []model.Tool) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	b := []byte(`[{"functionDeclarations":[`)
	for _, t := range list {
		b = append(wire.Next(b), '{')
		b = rawjson.AppendString(wire.AppendKey(b, "name"), t.Name)
		b = rawjson.AppendString(wire.AppendKey(b, "description"), t.Description)
		if len(t.Parameters) > 0 {
			b = append(wire.AppendKey(b, "parametersJsonSchema"), t.Parameters...)
		}
		b = append(b, '}')
	}
	return append(b, "]}]"...)
}

// generation is the generationConfig, nil if nothing is set. With thinking on, the thoughts are asked for.
func (m *Model) generation(s *model.Settings, overlays []map[string]json.RawMessage) json.RawMessage {
	b := []byte{'{'}
	if s.Temperature != nil {
		b = strconv.AppendFloat(wire.AppendKey(b, "temperature"), *s.Temperature, 'g', -1, 64)
	}
	if s.MaxTokens > 0 {
		b = strconv.AppendInt(wire.AppendKey(b, "maxOutputTokens"), int64(s.MaxTokens), 10)
	}
	var thinking []string
	if s.Thinking != nil && *s.Thinking {
		thinking = append(thinking, `"includeThoughts":true`)
	}
	if bound := m.bound(s); bound != "" && !boundsThinking(overlays) {
		thinking = append(thinking, bound)
	}
	if len(thinking) > 0 {
		b = append(wire.AppendKey(b, "thinkingConfig"), '{')
		b = append(append(b, strings.Join(thinking, ",")...), '}')
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, '}')
}

// boundsThinking reports whether the configuration has a bound of the thinking: the API refuses a level beside a
// budget.
func boundsThinking(overlays []map[string]json.RawMessage) bool {
	for _, o := range overlays {
		config, _ := rawjson.Members(o["generationConfig"])
		thinking, _ := rawjson.Members(config["thinkingConfig"])
		if thinking["thinkingLevel"] != nil || thinking["thinkingBudget"] != nil {
			return true
		}
	}
	return false
}
