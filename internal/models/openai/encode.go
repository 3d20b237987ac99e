package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// encode writes the request body. Whatever stays the same from call to call comes first, then the messages, and behind
// them what belongs to this call alone: so one request's beginning is the next one's.
func (m *Model) encode(req *model.Request) []byte {
	f, s := m.fixed(req), req.Settings.Or(m.cfg.Settings)
	b := append(make([]byte, 0, f.size()+wire.RoomFor(&model.Request{Messages: req.Messages})), '{')
	head := m.head(req, f, s)
	for _, h := range head {
		b = append(wire.AppendKey(b, h.key), h.value...)
	}
	b = append(wire.AppendKey(b, "messages"), '[')
	b = append(m.messages(b, f, req.Messages, s.Thinking == nil || *s.Thinking), ']')
	if len(req.Tools) > 0 && req.Settings.NoTools && head.find("tool_choice") < 0 &&
		m.cfg.ExtraBody["tool_choice"] == nil {
		b = append(wire.AppendKey(b, "tool_choice"), `"none"`...)
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

func encodeTools(tools []model.Tool) []byte {
	b := []byte{'['}
	for i := range tools {
		b = wire.AppendTool(append(wire.Next(b), `{"type":"function","function":{`...), &tools[i], "parameters")
		b = append(b, "}}"...)
	}
	return append(b, ']')
}

// messages writes the conversation; thinks says that the model may think about it.
func (m *Model) messages(b []byte, f *fixed, msgs []message.Message, thinks bool) []byte {
	if m.dialect.prose {
		return m.proseMessages(b, f, msgs)
	}
	b = append(b, f.encodedSystem...)
	for i := range msgs {
		msg := &msgs[i]
		switch msg.Role {
		case message.System:
			b = appendText(b, "system", msg.Text())
		case message.Human:
			b = m.human(b, msg)
		case message.AI:
			b = m.assistant(b, msg, thinks)
		case message.Tool:
			b = toolResult(b, msg)
		}
	}
	return b
}

// open starts a message of that role.
func open(b []byte, role string) []byte {
	return append(append(append(wire.Next(b), `{"role":"`...), role...), '"')
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
		b = appendPart(wire.Next(b), p)
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
func (m *Model) assistant(b []byte, msg *message.Message, thinks bool) []byte {
	d := m.dialect
	b = wire.AppendKey(open(b, "assistant"), "content")
	text, thought, calls := msg.Text(), msg.Reasoning(), len(msg.ToolCalls)
	switch {
	case thought != "" && d.replay == replayContent && m.client.Made(msg):
		b = appendThinking(b, thought, text)
	case text == "" && calls > 0:
		b = append(b, "null"...)
	default:
		b = rawjson.AppendString(b, text)
	}
	switch {
	case d.replay == "" || d.replay == replayContent:
	case thought != "":
		b = rawjson.AppendString(wire.AppendKey(b, d.replay), thought)
	case calls > 0 && thinks && d.blank != "":
		b = append(wire.AppendKey(b, d.replay), d.blank...)
	}
	if raw := msg.Kwargs[keyDetails]; d.details && len(raw) > 0 {
		b = append(wire.AppendKey(b, keyDetails), raw...)
	}
	if calls > 0 {
		b = append(wire.AppendKey(b, "tool_calls"), '[')
		for _, c := range msg.ToolCalls {
			b = m.call(b, c.ID, c.Name, cmp.Or(string(c.Args), "{}"), c.Extra)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendThinking writes a content list of the reasoning and the text.
func appendThinking(b []byte, thought, text string) []byte {
	b = append(b, `[{"type":"thinking","thinking":[{"type":"text","text":`...)
	b = append(rawjson.AppendString(b, thought), "}]}"...)
	if text != "" {
		b = append(b, ',')
		b = appendPart(b, message.Text(text))
	}
	return append(b, ']')
}

// keyFunction is where unknown fields inside a call's "function" object are kept in its Extra.
const keyFunction = "function"

func (m *Model) call(b []byte, id, name, args string, extra message.Fields) []byte {
	b = append(wire.Next(b), `{"id":`...)
	b = rawjson.AppendString(b, id)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = rawjson.AppendString(b, name)
	b = append(b, `,"arguments":`...)
	b = rawjson.AppendString(b, args)
	if m.dialect.strict || len(extra) == 0 {
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
