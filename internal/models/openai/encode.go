package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// encode writes the request body. Whatever stays the same from call to call comes first, then the messages, and behind
// them what belongs to this call alone: so one request's beginning is the next one's.
func (m *Model) encode(req *model.Request) []byte {
	f := m.fixed(req)
	b := append(make([]byte, 0, f.size()+roomFor(req.Messages)), '{')
	b = m.field(b, "model", rawjson.AppendString(nil, m.cfg.Model))
	b = append(wire.AppendKey(b, "stream"), "true"...)
	b = m.field(b, "stream_options", []byte(`{"include_usage":true}`))
	if len(req.Tools) > 0 {
		b = m.field(b, "tools", f.encodedTools)
	}
	b = m.settings(b, merge(req.Settings, m.cfg.Settings))
	b = wire.AppendFields(b, m.extra(), "messages", "stream")
	b = append(wire.AppendKey(b, "messages"), '[')
	b = append(m.messages(b, f, req.Messages), ']')
	if len(req.Tools) > 0 && req.Settings.NoTools {
		b = m.field(b, "tool_choice", []byte(`"none"`))
	}
	return append(b, '}')
}

// fixed is what the requests of an agent have in common, encoded: it is most of a short request.
type fixed struct {
	tools  []model.Tool
	system string

	encodedTools, encodedSystem []byte
}

func (f *fixed) size() int { return len(f.encodedTools) + len(f.encodedSystem) + 512 }

// fixed returns that of the last request, if it is still the same.
func (m *Model) fixed(req *model.Request) *fixed {
	if f := m.last.Load(); f != nil && f.system == req.System && slices.EqualFunc(f.tools, req.Tools, sameTool) {
		return f
	}
	f := &fixed{tools: slices.Clone(req.Tools), system: req.System, encodedTools: encodeTools(req.Tools)}
	if req.System != "" {
		f.encodedSystem = appendText([]byte{'['}, "system", req.System)[1:]
	}
	m.last.Store(f)
	return f
}

func sameTool(a, b model.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
}

// roomFor is about what messages take.
func roomFor(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		n += 96
		for _, p := range msgs[i].Content {
			n += len(p.Text) + len(p.URL) + len(p.Raw) + 16
		}
		for _, c := range msgs[i].ToolCalls {
			n += len(c.Args) + 128
		}
	}
	return n + n/8 // escapes
}

// field writes a field, unless the configuration's extra body has its own.
func (m *Model) field(b []byte, key string, raw []byte) []byte {
	if _, ok := m.cfg.ExtraBody[key]; ok {
		return b
	}
	return append(wire.AppendKey(b, key), raw...)
}

// extra is the extra body without the fields that are null.
func (m *Model) extra() message.Fields {
	f := message.Fields{}
	for k, v := range m.cfg.ExtraBody {
		if string(v) != "null" {
			f[k] = v
		}
	}
	return f
}

// merge fills what s leaves open from the defaults.
func merge(s, def model.Settings) model.Settings {
	if s.Temperature == nil {
		s.Temperature = def.Temperature
	}
	if s.MaxTokens == 0 {
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

func (m *Model) settings(b []byte, s model.Settings) []byte {
	if s.Temperature != nil {
		b = m.field(b, "temperature", strconv.AppendFloat(nil, *s.Temperature, 'g', -1, 64))
	}
	if s.MaxTokens > 0 {
		b = m.field(b, or(m.dialect.maxTokens, "max_tokens"), strconv.AppendInt(nil, int64(s.MaxTokens), 10))
	}
	switch {
	case s.Thinking != nil && !*s.Thinking:
		return m.object(b, m.dialect.off)
	case s.Effort != "":
		outer, inner, nested := strings.Cut(or(m.dialect.effort, "reasoning_effort"), ".")
		value := rawjson.AppendString(nil, s.Effort)
		if nested {
			value = append(append(wire.AppendKey([]byte{'{'}, inner), value...), '}')
		}
		b = m.field(b, outer, value)
		if nested { // the switch is in the same object, and an effort implies it
			return b
		}
	}
	if s.Thinking != nil {
		b = m.object(b, m.dialect.on)
	}
	return b
}

// object writes one field that is given as `"key":value`.
func (m *Model) object(b []byte, field string) []byte {
	key, value, ok := strings.Cut(field, ":")
	if !ok {
		return b
	}
	return m.field(b, strings.Trim(key, `"`), []byte(value))
}

func encodeTools(tools []model.Tool) []byte {
	size := 2
	for _, t := range tools {
		size += len(t.Name) + len(t.Description)*9/8 + len(t.Parameters) + 96
	}
	b := append(make([]byte, 0, size), '[')
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = rawjson.AppendString(b, t.Name)
		b = append(b, `,"description":`...)
		b = rawjson.AppendString(b, t.Description)
		b = append(b, `,"parameters":`...)
		if len(t.Parameters) == 0 {
			b = append(b, `{"type":"object","properties":{}}`...)
		}
		b = append(append(b, t.Parameters...), "}}"...)
	}
	return append(b, ']')
}

func (m *Model) messages(b []byte, f *fixed, msgs []message.Message) []byte {
	b = append(b, f.encodedSystem...)
	var images []message.Part // of tool results: the protocol has no place for them but a user message
	for i := range msgs {
		msg := &msgs[i]
		if msg.Role != message.Tool && len(images) > 0 {
			b = m.human(b, &message.Message{Content: images})
			images = nil
		}
		switch msg.Role {
		case message.System:
			b = appendText(b, "system", msg.Text())
		case message.Human:
			b = m.human(b, msg)
		case message.AI:
			b = m.assistant(b, msg)
		case message.Tool:
			b = toolResult(b, msg)
			images = appendImages(images, msg.Content)
		}
	}
	if len(images) > 0 {
		b = m.human(b, &message.Message{Content: images})
	}
	return b
}

// open starts a message of that role.
func open(b []byte, role string) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	return append(append(append(b, `{"role":"`...), role...), '"')
}

func appendText(b []byte, role, text string) []byte {
	b = append(open(b, role), `,"content":`...)
	return append(rawjson.AppendString(b, text), '}')
}

func (m *Model) human(b []byte, msg *message.Message) []byte {
	b = open(b, "user")
	if m.cfg.SendNames && msg.Name != "" {
		b = rawjson.AppendString(wire.AppendKey(b, "name"), msg.Name)
	}
	b = wire.AppendKey(b, "content")
	return append(appendContent(b, msg.Content), '}')
}

func toolResult(b []byte, msg *message.Message) []byte {
	b = open(b, "tool")
	b = rawjson.AppendString(wire.AppendKey(b, "tool_call_id"), msg.ToolCallID)
	b = rawjson.AppendString(wire.AppendKey(b, "content"), msg.Text())
	return append(b, '}')
}

func appendImages(images, parts []message.Part) []message.Part {
	for _, p := range parts {
		if p.Type == message.PartImage {
			images = append(images, p)
		}
	}
	return images
}

// appendContent writes one text part as a string and anything else as a list of blocks.
func appendContent(b []byte, parts []message.Part) []byte {
	if len(parts) == 0 {
		return append(b, `""`...)
	}
	if len(parts) == 1 && parts[0].Type == message.PartText {
		return rawjson.AppendString(b, parts[0].Text)
	}
	b = append(b, '[')
	for _, p := range parts {
		if p.Type == message.PartReasoning {
			continue
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = appendPart(b, p)
	}
	return append(b, ']')
}

func appendPart(b []byte, p message.Part) []byte {
	switch p.Type {
	case message.PartText:
		b = append(b, `{"type":"text","text":`...)
		return append(rawjson.AppendString(b, p.Text), '}')
	case message.PartImage:
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = rawjson.AppendString(b, p.URL)
		if p.Detail != "" {
			b = rawjson.AppendString(wire.AppendKey(b, "detail"), p.Detail)
		}
		return append(b, "}}"...)
	}
	return append(b, p.Raw...)
}

// assistant writes an answer of the model: null content beside calls, "" for an empty answer, its reasoning where the
// vendor wants it back.
func (m *Model) assistant(b []byte, msg *message.Message) []byte {
	b = open(b, "assistant")
	b = wire.AppendKey(b, "content")
	text, calls := msg.Text(), len(msg.ToolCalls)+len(msg.InvalidToolCalls)
	if text == "" && calls > 0 {
		b = append(b, "null"...)
	} else {
		b = rawjson.AppendString(b, text)
	}
	if reasoning := msg.Reasoning(); reasoning != "" && m.dialect.replay != "" {
		b = rawjson.AppendString(wire.AppendKey(b, m.dialect.replay), reasoning)
	}
	if raw := msg.Kwargs[keyDetails]; m.dialect.details && len(raw) > 0 {
		b = append(wire.AppendKey(b, keyDetails), raw...)
	}
	if calls > 0 {
		b = append(wire.AppendKey(b, "tool_calls"), '[')
		for _, c := range msg.ToolCalls {
			b = m.call(b, c.ID, c.Name, or(string(c.Args), "{}"), c.Extra)
		}
		for _, c := range msg.InvalidToolCalls {
			b = m.call(b, c.ID, c.Name, invalidArgs(c.Args), c.Extra)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// invalidArgs wraps arguments that are no JSON object: many servers parse the arguments of old calls and reject the
// whole request if they cannot, but the model should see what it wrote.
func invalidArgs(args string) string {
	return string(append(rawjson.AppendString([]byte(`{"invalid_arguments":`), args), '}'))
}

// keyFunction is where unknown fields inside a call's "function" object are kept in its Extra.
const keyFunction = "function"

func (m *Model) call(b []byte, id, name, args string, extra message.Fields) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	b = append(b, `{"id":`...)
	b = rawjson.AppendString(b, id)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = rawjson.AppendString(b, name)
	b = append(b, `,"arguments":`...)
	b = rawjson.AppendString(b, args)
	if m.dialect.strict {
		return append(b, "}}"...)
	}
	var inner message.Fields
	if json.Unmarshal(extra[keyFunction], &inner) == nil {
		b = wire.AppendFields(b, inner)
	}
	b = append(b, '}')
	b = wire.AppendFields(b, extra, keyFunction)
	return append(b, '}')
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
