package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// plainReasoning reports whether the message's reasoning is one leading part that reasoning_content can hold.
func (m *Message) plainReasoning() bool {
	if m.Role != AI || len(m.Content) == 0 {
		return false
	}
	if _, taken := m.Kwargs[keyReasoning]; taken {
		return false
	}
	for i := range m.Content[1:] {
		if m.Content[1+i].Type == PartReasoning {
			return false
		}
	}
	p := &m.Content[0]
	return p.Type == PartReasoning && p.Text != "" && p.Signature == "" && p.Redacted == "" && len(p.Extra) == 0
}

// needsList reports whether parts cannot be written as a string.
func needsList(parts []Part) bool {
	return len(parts) > 1 || len(parts) == 1 && (parts[0].Type != PartText || len(parts[0].Extra) > 0)
}

func appendContent(b []byte, parts []Part, list bool) ([]byte, error) {
	if list || needsList(parts) {
		return appendList(b, parts, appendPart)
	}
	if len(parts) == 0 {
		return append(b, `""`...), nil
	}
	return rawjson.AppendString(b, parts[0].Text), nil
}

func appendPart(b []byte, p *Part) ([]byte, error) {
	o := rawjson.Begin(b)
	switch p.Type {
	case PartText:
		o.String("type", "text")
		o.String("text", p.Text)
	case PartImage:
		return appendImage(o, p)
	case PartReasoning:
		appendReasoning(&o, p)
	case PartRaw:
		if len(p.Raw) == 0 || p.Raw[0] != '{' {
			return nil, errors.New("a raw part must be a JSON object")
		}
		return rawjson.AppendRaw(b, p.Raw)
	default:
		return nil, fmt.Errorf("part type %q is unknown", p.Type)
	}
	o.Members(p.Extra)
	return o.End()
}

func appendReasoning(o *rawjson.Object, p *Part) {
	if p.Redacted != "" {
		o.String("type", "redacted_thinking")
		o.String("data", p.Redacted)
		return
	}
	o.String("type", "thinking")
	o.String("thinking", p.Text)
	o.OmitEmpty("signature", p.Signature)
}

// appendImage writes unknown members of image_url, kept in Extra["image_url"], back into it.
func appendImage(o rawjson.Object, p *Part) ([]byte, error) {
	o.String("type", "image_url")
	o.Key("image_url")
	in := rawjson.Begin(o.Buf)
	in.String("url", p.URL)
	in.OmitEmpty("detail", p.Detail)
	inner := p.Extra["image_url"]
	if members, ok := rawjson.Members(inner); ok && rawjson.Valid(inner) {
		in.Members(members)
	}
	b, err := in.End()
	o.Done("image_url", b, err)
	if inner == nil {
		o.Members(p.Extra)
		return o.End()
	}
	outer := maps.Clone(p.Extra)
	delete(outer, "image_url")
	o.Members(outer)
	return o.End()
}

// takeContent reads the content and the reasoning beside it. Kwargs must be there.
func (m *Message) takeContent(r *reader) {
	if _, ok := r.members["content"]; !ok && m.Role != AI && m.Role != Remove {
		r.fail("content", errMissing)
	}
	if m.Role == AI {
		m.takeReasoning()
	}
	raw := r.take("content")
	if raw == nil {
		return
	}
	if text, ok := rawjson.String(raw); ok {
		if text != "" {
			m.Content = append(m.Content, Text(text))
		}
		return
	}
	parts, err := decodeParts(raw)
	r.fail("content", err)
	m.Content, m.List = append(m.Content, parts...), true
}

// takeReasoning moves a text, or null, out of Kwargs; anything else stays there.
func (m *Message) takeReasoning() {
	raw := m.Kwargs[keyReasoning]
	text, isText := rawjson.String(raw)
	if !isText && string(raw) != "null" {
		return
	}
	delete(m.Kwargs, keyReasoning)
	if len(m.Kwargs) == 0 {
		m.Kwargs = nil
	}
	if text != "" {
		m.Content = append(m.Content, Part{Type: PartReasoning, Text: text})
	}
}

func decodeParts(raw json.RawMessage) ([]Part, error) {
	blocks, ok := rawjson.Elements(raw)
	if !ok {
		return nil, wanted("a string or a list of blocks", raw)
	}
	if len(blocks) > maxParts {
		return nil, errTooMany
	}
	parts := make([]Part, len(blocks))
	for i, b := range blocks {
		var err error
		if parts[i], err = decodePart(b); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return parts, nil
}

func decodePart(raw json.RawMessage) (Part, error) {
	if text, ok := rawjson.String(raw); ok {
		return Text(text), nil
	}
	r, err := read(raw)
	if err != nil {
		return Part{}, wanted("a string or an object", raw)
	}
	var p Part
	switch typ, _ := rawjson.String(r.members["type"]); typ {
	case "text":
		p = Text(r.must("text"))
	case "thinking":
		p = Part{Type: PartReasoning, Text: r.string("thinking"), Signature: r.string("signature")}
	case "redacted_thinking":
		if data := r.must("data"); data != "" {
			p = Part{Type: PartReasoning, Redacted: data}
		}
	case "image_url":
		p = takeImageURL(&r)
	case "image":
		p = takeImage(&r)
	}
	if p.Type == "" {
		return Part{Type: PartRaw, Raw: clone(raw)}, r.err
	}
	delete(r.members, "type")
	p.keepExtra(r.rest())
	return p, r.err
}

func (p *Part) keepExtra(rest Fields) {
	if p.Extra == nil {
		p.Extra = rest
		return
	}
	maps.Copy(p.Extra, rest)
}

// takeImageURL reads OpenAI's image block: {"image_url": {"url", "detail"}} or {"image_url": url}.
func takeImageURL(r *reader) Part {
	p := Part{Type: PartImage}
	if raw := r.members["image_url"]; len(raw) > 0 && raw[0] == '"' {
		p.URL = r.string("image_url")
	} else if in := r.object("image_url"); in != nil {
		p.URL, p.Detail = in.string("url"), in.string("detail")
		r.fail("image_url", in.err)
		if len(in.members) > 0 {
			o := rawjson.Begin(nil)
			o.Members(in.members)
			inner, _ := o.End()
			p.Extra = Fields{"image_url": inner}
		}
	}
	if p.URL == "" {
		r.fail("image_url", errors.New("has no url"))
	}
	return p
}

// takeImage reads LangChain's image block, by URL or with base64 data. The zero Part says that it is another kind,
// such as one that names a file.
func takeImage(r *reader) Part {
	url, data := r.string("url"), r.string("base64")
	if data == "" {
		data = r.string("data")
	}
	if url == "" && data == "" {
		return Part{}
	}
	if url == "" {
		mime := r.string("mime_type")
		if mime == "" {
			r.fail("mime_type", errMissing)
		}
		url = "data:" + mime + ";base64," + data
	}
	delete(r.members, "source_type")
	delete(r.members, "image_url")
	return Part{Type: PartImage, URL: url}
}
