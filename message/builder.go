package message

import (
	"maps"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Builder folds the chunks of one AI message. The zero value is ready. It is not safe for concurrent use.
type Builder struct {
	parts   []*openPart
	calls   []*openCall // by first appearance
	byIndex map[int]*openCall
	usage   *Usage
	finish  string
	meta    Fields
	kwargs  Fields
}

// openPart is a part that may still grow.
type openPart struct {
	part   Part // without its text
	text   strings.Builder
	closed bool
}

type openCall struct {
	id, name string
	args     strings.Builder
	extra    Fields
}

// Add takes the next chunk. Within a chunk, reasoning and its signature come before text.
func (b *Builder) Add(c Chunk) {
	if c.Reasoning != "" {
		b.open(PartReasoning).text.WriteString(c.Reasoning)
	}
	if c.Signature != "" {
		p := b.open(PartReasoning)
		p.part.Signature, p.closed = c.Signature, true
	}
	if c.Redacted != "" {
		b.parts = append(b.parts, &openPart{part: Part{Type: PartReasoning, Redacted: c.Redacted}, closed: true})
	}
	if c.Text != "" {
		b.open(PartText).text.WriteString(c.Text)
	}
	for _, t := range c.ToolCalls {
		b.addCall(t)
	}
	b.addUsage(c.Usage)
	if c.FinishReason != "" {
		b.finish = c.FinishReason
	}
	b.meta, b.kwargs = merge(b.meta, c.Metadata), merge(b.kwargs, c.Kwargs)
}

// open returns the last part if it is of the type and may grow, else a new one.
func (b *Builder) open(t PartType) *openPart {
	if n := len(b.parts); n > 0 && b.parts[n-1].part.Type == t && !b.parts[n-1].closed {
		return b.parts[n-1]
	}
	p := &openPart{part: Part{Type: t}}
	b.parts = append(b.parts, p)
	return p
}

func (b *Builder) addCall(t ToolCallChunk) {
	call := b.byIndex[t.Index]
	if call == nil {
		call = &openCall{}
		if b.byIndex == nil {
			b.byIndex = make(map[int]*openCall)
		}
		b.byIndex[t.Index] = call
		b.calls = append(b.calls, call)
	}
	if call.id == "" {
		call.id = t.ID
	}
	if call.name == "" {
		call.name = t.Name
	}
	if call.extra == nil {
		call.extra = maps.Clone(t.Extra)
	}
	call.args.WriteString(t.Args)
}

func (b *Builder) addUsage(u *Usage) {
	if u == nil {
		return
	}
	if b.usage == nil {
		b.usage = &Usage{}
	}
	set(&b.usage.InputTokens, u.InputTokens)
	set(&b.usage.OutputTokens, u.OutputTokens)
	set(&b.usage.TotalTokens, u.TotalTokens)
	set(&b.usage.CacheRead, u.CacheRead)
	set(&b.usage.CacheCreation, u.CacheCreation)
	set(&b.usage.Reasoning, u.Reasoning)
}

func set(old *int, n int) {
	if n != 0 {
		*old = n
	}
}

func merge(old, more Fields) Fields {
	if len(more) == 0 {
		return old
	}
	if old == nil {
		old = make(Fields, len(more))
	}
	maps.Copy(old, more)
	return old
}

// Message returns the message so far; it has no ID. Chunks added later do not change it. A call whose arguments are not
// a JSON object is among its InvalidToolCalls, with the reason; before the last chunk that is any unfinished call.
func (b *Builder) Message() Message {
	m := Message{Role: AI, Kwargs: maps.Clone(b.kwargs), ResponseMetadata: maps.Clone(b.meta)}
	for _, p := range b.parts {
		part := p.part
		part.Text = p.text.String()
		m.Content = append(m.Content, part)
	}
	visible := m.Content
	if m.plainReasoning() {
		visible = visible[1:]
	}
	m.List = needsList(visible)
	for _, c := range b.calls {
		c.addTo(&m)
	}
	if b.usage != nil {
		u := *b.usage
		m.Usage = &u
	}
	if b.finish != "" {
		m.ResponseMetadata = merge(m.ResponseMetadata, Fields{"finish_reason": rawjson.AppendString(nil, b.finish)})
	}
	return m
}

func (c *openCall) addTo(m *Message) {
	text := c.args.String()
	args, problem := parseArgs(text)
	if problem != "" {
		m.InvalidToolCalls = append(m.InvalidToolCalls,
			InvalidToolCall{ID: c.id, Name: c.name, Args: text, Error: problem, Extra: maps.Clone(c.extra)})
		return
	}
	m.ToolCalls = append(m.ToolCalls, ToolCall{ID: c.id, Name: c.name, Args: args, Extra: maps.Clone(c.extra)})
}
