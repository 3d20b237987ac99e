package responses

import (
	"cmp"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/history"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
)

// rules are what the API demands of a conversation. Blank answers are dropped, because reasoning must be followed by
// what it led to.
var rules = history.Rules{
	Blank: history.BlankDropped, IDs: history.Shape{Max: 64},
	Tools: history.Shape{Min: 1, Max: 64, Chars: history.Chars("a-zA-Z0-9_-")}, Images: history.ImagesInResults,
	RawTypes: []string{"input_file", "input_audio"},
}

// input writes the conversation as items behind an opening bracket.
func (m *Model) input(b []byte, msgs []message.Message) []byte {
	for i := range msgs {
		msg := &msgs[i]
		switch msg.Role {
		case message.System:
			b = appendMessage(b, "developer", []message.Part{message.Text(msg.Text())})
		case message.Human:
			b = appendMessage(b, "user", msg.Content)
		case message.AI:
			for _, it := range itemsOf(msg, m.client.Made(msg)) {
				b = appendItem(b, &it)
			}
		case message.Tool:
			b = rawjson.AppendString(wire.AppendKey(open(b, "function_call_output"), "call_id"), msg.ToolCallID)
			b = append(appendContent(wire.AppendKey(b, "output"), msg.Content), '}')
		}
	}
	return b
}

// open starts an item.
func open(b []byte, typ string) []byte {
	return append(append(append(wire.Next(b), `{"type":"`...), typ...), '"')
}

func appendMessage(b []byte, role string, parts []message.Part) []byte {
	b = append(append(append(open(b, typeMessage), `,"role":"`...), role...), `","content":`...)
	return append(appendContent(b, parts), '}')
}

// appendContent writes one text part as a string and anything else as a list.
func appendContent(b []byte, parts []message.Part) []byte {
	if len(parts) == 0 {
		return append(b, `""`...)
	}
	if len(parts) == 1 && parts[0].Type == message.PartText {
		return rawjson.AppendString(b, parts[0].Text)
	}
	b = append(b, '[')
	for _, p := range parts {
		switch {
		case p.Type == message.PartText:
			b = appendText(b, "input_text", "text", p.Text)
		case p.Type == message.PartImage:
			b = rawjson.AppendString(wire.AppendKey(open(b, "input_image"), "image_url"), p.URL)
			b = append(rawjson.AppendString(wire.AppendKey(b, "detail"), cmp.Or(p.Detail, "auto")), '}')
		case p.Type == message.PartRaw && len(p.Raw) > 0:
			b = append(wire.Next(b), p.Raw...)
		}
	}
	return append(b, ']')
}

// appendText writes {"type":typ,key:text}.
func appendText(b []byte, typ, key, text string) []byte {
	return append(rawjson.AppendString(wire.AppendKey(open(b, typ), key), text), '}')
}

// appendTexts writes a list of texts as a field of an item.
func appendTexts(b []byte, field, typ string, texts []string) []byte {
	b = append(wire.AppendKey(b, field), '[')
	for _, t := range texts {
		b = appendText(b, typ, "text", t)
	}
	return append(b, ']')
}

// appendItem writes an item of an answer.
func appendItem(b []byte, it *item) []byte {
	switch it.Type {
	case typeReasoning:
		return appendReasoning(b, it)
	case typeMessage:
		return appendSaid(b, it)
	case typeCall:
		return appendCall(b, it)
	}
	return append(wire.Next(b), it.Item...)
}

func appendReasoning(b []byte, it *item) []byte {
	b = open(b, typeReasoning)
	if it.ID != "" {
		b = rawjson.AppendString(wire.AppendKey(b, "id"), it.ID)
	}
	b = appendTexts(b, "summary", "summary_text", it.summary)
	if len(it.content) > 0 {
		b = appendTexts(b, "content", "reasoning_text", it.content)
	}
	if it.encrypted != "" {
		b = rawjson.AppendString(wire.AppendKey(b, "encrypted_content"), it.encrypted)
	}
	return append(b, '}')
}

// appendSaid writes a message of the model. One text is a string: that is the form in which an assistant's message
// needs no id and no status, fields that some servers demand of the long form.
func appendSaid(b []byte, it *item) []byte {
	b = append(open(b, typeMessage), `,"role":"assistant","content":`...)
	if len(it.content) == 1 && len(it.Refusals) == 0 {
		b = rawjson.AppendString(b, it.content[0])
	} else {
		b = append(b, '[')
		for i, text := range it.content {
			if slices.Contains(it.Refusals, i) {
				b = appendText(b, "refusal", "refusal", text)
			} else {
				b = appendText(b, "output_text", "text", text)
			}
		}
		b = append(b, ']')
	}
	if it.Phase != "" {
		b = rawjson.AppendString(wire.AppendKey(b, "phase"), it.Phase)
	}
	return append(b, '}')
}

func appendCall(b []byte, it *item) []byte {
	b = rawjson.AppendString(wire.AppendKey(open(b, typeCall), "call_id"), it.CallID)
	b = rawjson.AppendString(wire.AppendKey(b, "name"), it.name)
	b = rawjson.AppendString(wire.AppendKey(b, "arguments"), cmp.Or(it.args, "{}"))
	if further, ok := rawjson.Members(it.Item); ok {
		b = wire.AppendFields(b, further, callFields...)
	}
	return append(b, '}')
}

// callFields are the fields of a call that have a place of their own.
var callFields = []string{"type", "id", "call_id", "name", "arguments", "status"}
