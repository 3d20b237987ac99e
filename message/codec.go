package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// maxParts bounds the parts, and the tool calls, of one message, on the way in and out.
const maxParts = 10_000

var errTooMany = fmt.Errorf("more than %d entries", maxParts)

// keyReasoning is the member of additional_kwargs that carries the plain reasoning of an AI message.
const keyReasoning = "reasoning_content"

// MarshalJSON implements [json.Marshaler] by [Message.AppendJSON]. json.Marshal compacts its result.
func (m Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// AppendJSON appends the message as LangChain writes it. Values kept as raw JSON, such as the arguments of tool calls,
// are written byte for byte and may contain line breaks. A value that is no JSON is an error, which names it.
//
// The reasoning of an AI message is written as additional_kwargs.reasoning_content if it is one leading part of plain
// text, else as "thinking" and "redacted_thinking" blocks of the content.
func (m Message) AppendJSON(b []byte) ([]byte, error) {
	b, err := m.appendJSON(b)
	if err != nil {
		return nil, fmt.Errorf("encode message %q: %w", m.ID, err)
	}
	return b, nil
}

func (m *Message) appendJSON(b []byte) ([]byte, error) {
	switch m.Role {
	case System, Human, AI, Tool, Remove:
	default:
		return nil, fmt.Errorf("role %q is unknown", m.Role)
	}
	o := rawjson.Begin(slices.Grow(b, m.room()))
	parts, kwargs := m.Content, m.Kwargs
	plain := m.plainReasoning()
	if plain {
		parts = parts[1:]
	}
	o.Key("content")
	content, err := appendContent(o.Buf, parts, m.List)
	o.Done("content", content, err)
	o.Key("additional_kwargs")
	extra := rawjson.Begin(o.Buf)
	if plain {
		extra.String(keyReasoning, m.Content[0].Text)
	}
	extra.Members(kwargs)
	kw, err := extra.End()
	o.Done("additional_kwargs", kw, err)
	o.Object("response_metadata", m.ResponseMetadata)
	o.String("type", string(m.Role))
	o.StringOrNull("name", m.Name)
	o.StringOrNull("id", m.ID)
	m.appendRole(&o)
	o.Members(m.Extra)
	return o.End()
}

// room is about how many bytes the JSON takes, so that it is written into one piece of memory.
func (m *Message) room() int {
	n := 256
	for i := range m.Content {
		p := &m.Content[i]
		n += 64 + len(p.Text) + len(p.Text)/16 + len(p.URL) + len(p.Signature) + len(p.Redacted) + len(p.Raw)
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		n += 64 + len(c.ID) + len(c.Name) + len(c.Args)
	}
	return n + 64*(len(m.Kwargs)+len(m.ResponseMetadata)+len(m.Extra)) + len(m.Artifact)
}

// appendRole adds the members that only one role has.
func (m *Message) appendRole(o *rawjson.Object) {
	switch m.Role {
	case AI:
		o.Key("tool_calls")
		b, err := appendList(o.Buf, m.ToolCalls, appendCall)
		o.Done("tool_calls", b, err)
		o.Key("invalid_tool_calls")
		b, err = appendList(o.Buf, m.InvalidToolCalls, appendInvalid)
		o.Done("invalid_tool_calls", b, err)
		o.Key("usage_metadata")
		o.Buf = appendUsage(o.Buf, m.Usage)
	case Tool:
		o.String("tool_call_id", m.ToolCallID)
		o.Raw("artifact", m.Artifact)
		if m.Status == "" {
			o.String("status", StatusSuccess)
			return
		}
		o.String("status", m.Status)
	}
}

// appendList writes a JSON array of what one writes. An error names the index.
func appendList[T any](b []byte, list []T, one func([]byte, *T) ([]byte, error)) ([]byte, error) {
	if len(list) > maxParts {
		return nil, errTooMany
	}
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = one(b, &list[i]); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return append(b, ']'), nil
}

func appendUsage(b []byte, u *Usage) []byte {
	if u == nil {
		return append(b, "null"...)
	}
	o := rawjson.Begin(b)
	o.Int("input_tokens", int64(u.InputTokens))
	o.Int("output_tokens", int64(u.OutputTokens))
	o.Int("total_tokens", int64(u.TotalTokens))
	o.Key("input_token_details")
	in := rawjson.Begin(o.Buf)
	in.Int("cache_read", int64(u.CacheRead))
	if u.CacheCreation != 0 {
		in.Int("cache_creation", int64(u.CacheCreation))
	}
	o.Buf, _ = in.End()
	o.Key("output_token_details")
	out := rawjson.Begin(o.Buf)
	out.Int("reasoning", int64(u.Reasoning))
	o.Buf, _ = out.End()
	b, _ = o.End()
	return b
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads what [Message.AppendJSON] writes, messages as LangChain's
// clients send them, and OpenAI's {"role", "content", "tool_calls"} form. An error names the member, and m is
// unchanged.
func (m *Message) UnmarshalJSON(raw []byte) error {
	raw, err := checked(raw)
	if err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	next, err := decodeMessage(raw)
	if err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	*m = next
	return nil
}

func decodeMessage(raw []byte) (Message, error) {
	r, err := read(raw)
	if err != nil {
		return Message{}, err
	}
	role, err := takeRole(&r)
	if err != nil {
		return Message{}, err
	}
	m := Message{Role: role, ID: r.string("id"), Name: r.string("name")}
	m.Kwargs = r.fields("additional_kwargs")
	m.ResponseMetadata = r.fields("response_metadata")
	m.takeContent(&r)
	switch role {
	case AI:
		m.takeCalls(&r)
		m.Usage = takeUsage(&r)
	case Tool:
		m.takeToolResult(&r)
	}
	m.Extra = r.rest()
	if r.err != nil {
		return Message{}, r.err
	}
	return m, nil
}

// roles maps the names in use to roles: LangChain's types and classes, OpenAI's roles.
var roles = map[string]Role{
	"system": System, "developer": System, "SystemMessage": System, "SystemMessageChunk": System,
	"human": Human, "user": Human, "HumanMessage": Human, "HumanMessageChunk": Human,
	"ai": AI, "assistant": AI, "AIMessage": AI, "AIMessageChunk": AI,
	"tool": Tool, "ToolMessage": Tool, "ToolMessageChunk": Tool,
	"remove": Remove, "RemoveMessage": Remove,
}

const knownRoles = `"human" (or "user"), "ai" (or "assistant"), "system", "tool" or "remove"`

// takeRole reads "type" or "role". A type that is no role, such as OpenAI's "message", leaves the word to "role".
func takeRole(r *reader) (Role, error) {
	typ, name := r.string("type"), r.string("role")
	if r.err != nil {
		return "", r.err
	}
	role, byType := roles[typ]
	other, byRole := roles[name]
	switch {
	case typ == "" && name == "":
		return "", errors.New("type is missing: it must be " + knownRoles)
	case byType && byRole && role != other:
		return "", fmt.Errorf("type %q and role %q contradict each other", typ, name)
	case byType:
		return role, nil
	case byRole:
		return other, nil
	case typ != "":
		return "", fmt.Errorf("type %q is unknown: it must be %s", typ, knownRoles)
	}
	return "", fmt.Errorf("role %q is unknown: it must be %s", name, knownRoles)
}

func (m *Message) takeToolResult(r *reader) {
	m.ToolCallID = r.must("tool_call_id")
	if raw := r.take("artifact"); raw != nil {
		m.Artifact = clone(raw)
	}
	m.Status = r.string("status")
	switch m.Status {
	case "":
		m.Status = StatusSuccess
	case StatusSuccess, StatusError:
	default:
		r.fail("status", fmt.Errorf("%q is neither %q nor %q", m.Status, StatusSuccess, StatusError))
	}
}

func takeUsage(r *reader) *Usage {
	in := r.object("usage_metadata")
	if in == nil {
		return nil
	}
	u := &Usage{
		InputTokens:  in.int("input_tokens"),
		OutputTokens: in.int("output_tokens"),
		TotalTokens:  in.int("total_tokens"),
	}
	if d := in.object("input_token_details"); d != nil {
		u.CacheRead, u.CacheCreation = d.int("cache_read"), d.int("cache_creation")
		in.fail("input_token_details", d.err)
	}
	if d := in.object("output_token_details"); d != nil {
		u.Reasoning = d.int("reasoning")
		in.fail("output_token_details", d.err)
	}
	r.fail("usage_metadata", in.err)
	return u
}

var (
	_ json.Marshaler   = Message{}
	_ json.Unmarshaler = (*Message)(nil)
)
