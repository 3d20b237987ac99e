package calls

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// equal reports whether two messages are written alike. Mostly they are the same memory.
func equal(a, b *message.Message) bool {
	if a.ID != b.ID || a.Role != b.Role || a.Name != b.Name || a.List != b.List || a.ToolCallID != b.ToolCallID ||
		a.Status != b.Status {
		return false
	}
	return (conversation.Same(a, b) || slices.EqualFunc(a.Content, b.Content, equalPart) &&
		equalFields(a.Kwargs, b.Kwargs) &&
		(len(a.ToolCalls) == 0 && len(b.ToolCalls) == 0 || reflect.DeepEqual(a.ToolCalls, b.ToolCalls))) &&
		(len(a.InvalidToolCalls) == 0 && len(b.InvalidToolCalls) == 0 ||
			reflect.DeepEqual(a.InvalidToolCalls, b.InvalidToolCalls)) &&
		(a.Usage == b.Usage || a.Usage != nil && b.Usage != nil && *a.Usage == *b.Usage) &&
		bytes.Equal(a.Artifact, b.Artifact) && equalFields(a.ResponseMetadata, b.ResponseMetadata) &&
		equalFields(a.Extra, b.Extra)
}

func equalPart(a, b message.Part) bool {
	return a.Type == b.Type && a.Text == b.Text && a.URL == b.URL && a.Detail == b.Detail &&
		a.Signature == b.Signature &&
		a.Redacted == b.Redacted && bytes.Equal(a.Raw, b.Raw) && equalFields(a.Extra, b.Extra)
}

func equalFields(a, b message.Fields) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer() {
		return true
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !bytes.Equal(v, w) {
			return false
		}
	}
	return true
}

// longURL is how long the address of an image may be that is kept with a call; of a longer one its sum is.
const longURL = 2048

// marked is the address of an image as it is kept and summed.
func marked(url string) string {
	if len(url) <= longURL {
		return url
	}
	return omittedURL + strconv.FormatUint(xxhash.Sum64String(url), 16) + "-" + strconv.Itoa(len(url))
}

// omittedURL begins the address that stands for one that is not kept.
const omittedURL = "pudu-omitted:"

// summed appends what a model reads of a message, as a sum goes over it.
func summed(b []byte, m *message.Message) []byte {
	put := func(s string) {
		if !utf8.ValidString(s) { // the log has it as text
			s, _ = rawjson.String(rawjson.AppendString(nil, s))
		}
		b = append(append(b, s...), 0)
	}
	put(string(m.Role))
	put(m.ID)
	put(m.Name)
	put(m.ToolCallID)
	put(m.Status)
	for i := range m.Content {
		p := &m.Content[i]
		if p.Type == message.PartText && p.Text == "" { // the log may have none in its place
			continue
		}
		put(string(p.Type))
		put(p.Text)
		put(marked(p.URL))
		put(p.Detail)
		put(p.Signature)
		put(p.Redacted)
		b = append(b, p.Raw...)
	}
	for i := range m.ToolCalls {
		put(m.ToolCalls[i].ID)
		put(m.ToolCalls[i].Name)
		b = append(b, m.ToolCalls[i].Args...)
	}
	for i := range m.InvalidToolCalls {
		put(m.InvalidToolCalls[i].ID)
		put(m.InvalidToolCalls[i].Name)
		put(m.InvalidToolCalls[i].Args)
	}
	return append(b, 1)
}

// summer sums up messages.
type summer struct {
	sum xxhash.Digest
	buf []byte
}

func (s *summer) add(m *message.Message) {
	s.buf = summed(s.buf[:0], m)
	_, _ = s.sum.Write(s.buf) // no error comes from a sum
}

func (s *summer) text() string { return strconv.FormatUint(s.sum.Sum64(), 36) }

// sumOf is the sum over messages.
func sumOf(msgs []message.Message) string {
	var s summer
	s.sum.Reset()
	for i := range msgs {
		s.add(&msgs[i])
	}
	return s.text()
}
