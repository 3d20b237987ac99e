package frames

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// values is the JSON object of the settled state's visible channels.
func (s *scope) values() ([]byte, error) {
	if s.whole != nil {
		return s.whole, nil
	}
	list, err := visible(s.now)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, s.before+s.before/8+512), '{')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = s.appendChannel(append(rawjson.AppendString(b, v.Channel), ':'), v); err != nil {
			return nil, err
		}
	}
	s.whole = slices.Clip(append(b, '}'))
	s.before = len(s.whole)
	return s.whole, nil
}

// appendChannel appends the value of a channel.
func (s *scope) appendChannel(b []byte, v state.Encoded) ([]byte, error) {
	if v.Items == nil {
		return appendLine(b, v.Raw)
	}
	return s.appendItems(b, v.Channel, v.Items)
}

func (s *scope) appendItems(b []byte, channel string, items [][]byte) ([]byte, error) {
	c := s.clean[channel]
	if c == nil {
		c = &cleaner{messages: channel == agent.Messages.Name()}
		if s.clean == nil {
			s.clean = make(map[string]*cleaner)
		}
		s.clean[channel] = c
	}
	b = append(b, '[')
	for i, raw := range items {
		line, err := c.item(i, raw)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, line...)
	}
	c.list = c.list[:min(len(c.list), len(items))]
	return append(b, ']'), nil
}

// cleaner remembers the items of a list in the form in which they are sent, so that each is looked at once.
type cleaner struct {
	messages bool
	list     []cleaned
}

// cleaned is an item, known by where its bytes are, and its form.
type cleaned struct {
	of   *byte
	n    int
	line []byte
}

func (c *cleaner) item(i int, raw []byte) (line []byte, err error) {
	if len(raw) == 0 {
		return null, nil
	}
	if i < len(c.list) && c.list[i].of == &raw[0] && c.list[i].n == len(raw) {
		return c.list[i].line, nil
	}
	if c.messages {
		line, err = messageLine(raw)
	} else {
		line, err = oneLine(raw)
	}
	if i >= len(c.list) {
		c.list = append(slices.Grow(c.list, i+1-len(c.list)), make([]cleaned, i+1-len(c.list))...)
	}
	c.list[i] = cleaned{of: &raw[0], n: len(raw), line: line}
	return line, err
}

// messageLine is a message as clients get it in a state: on one line, and without the images that a hidden message
// carries as data for the model alone.
func messageLine(raw []byte) ([]byte, error) {
	if bytes.Contains(raw, []byte(message.KeyHidden)) && bytes.Contains(raw, []byte(`data:`)) {
		var m message.Message
		if err := json.Unmarshal(raw, &m); err == nil && string(m.Kwargs[message.KeyHidden]) == "true" {
			return lineOf(withoutData(m))
		}
	}
	return oneLine(raw)
}

func withoutData(m message.Message) message.Message {
	m.Content = slices.DeleteFunc(slices.Clone(m.Content), func(p message.Part) bool {
		return p.Type == message.PartImage && strings.HasPrefix(p.URL, "data:")
	})
	return m
}

// lineOf is a message on one line.
func lineOf(m message.Message) ([]byte, error) {
	raw, err := m.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	return oneLine(raw)
}

// oneLine is a JSON value without line breaks; an empty one is null.
func oneLine(raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return null, nil
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw, nil
	}
	return appendLine(nil, raw)
}

// appendLine appends a JSON value without line breaks.
func appendLine(b, raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return append(b, null...), nil
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return append(b, raw...), nil
	}
	buf := bytes.NewBuffer(b)
	err := json.Compact(buf, raw)
	return buf.Bytes(), err
}
