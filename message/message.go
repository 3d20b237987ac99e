// Package message holds the conversation: messages made of parts, tool calls, token usage, and their codec to and
// from the JSON that LangChain and LangGraph clients speak.
//
// It imports no other package of Pudu. A model produces messages as a stream of [Chunk]s that a [Builder] folds
// into one [Message]; the state keeps them in a log; the store and every client see their JSON. What this package
// does not understand (unknown part types, unknown fields) it carries through unchanged.
package message

import "encoding/json"

// Role says who speaks. Its values are the "type" of LangChain's wire format.
type Role string

// The roles of a conversation. Remove is no speaker: on input it asks that the message with the same id be dropped,
// or, with the id [RemoveAll], every message before it.
const (
	System Role = "system"
	Human  Role = "human"
	AI     Role = "ai"
	Tool   Role = "tool"
	Remove Role = "remove"
)

// RemoveAll is the id of a [Remove] message that drops everything before it.
const RemoveAll = "__remove_all__"

// Status of a tool message.
const (
	StatusSuccess = "success"
	StatusError   = "error"
)

// Keys of additional_kwargs that more than one package reads.
const (
	// KeyHidden marks a message that a UI must not show.
	KeyHidden = "hide_from_ui"
	// KeyErrorFallback marks an AI message that stands in for a failed model call; the run counts as failed.
	KeyErrorFallback = "deerflow_error_fallback"
	// KeyOutcomeUnknown marks a tool message of a call that a crash cut off: nobody knows how far it came.
	KeyOutcomeUnknown = "outcome_unknown"
	// KeyPartial marks an AI message that was cut off (by a cancel) and kept; its value is the reason.
	KeyPartial = "pudu_partial"
)

// Fields are named JSON values that are carried as they came.
type Fields map[string]json.RawMessage

// Message is one entry of a conversation. The zero value is not valid: a message has a Role.
// Messages are values: nobody changes a message that somebody else may hold.
type Message struct {
	// ID names the message within its thread. Empty only before admission.
	ID   string
	Role Role
	// Name is the optional speaker or, for a tool message, the tool.
	Name    string
	Content []Part
	// List says that content came as a list of blocks and is written as one, even where a plain string would do.
	List bool

	ToolCalls        []ToolCall        // AI only, in the order the model asked
	InvalidToolCalls []InvalidToolCall // AI only: calls whose arguments are not a JSON object
	Usage            *Usage            // AI only; nil when the provider reported none

	ToolCallID string          // Tool only: the call that this answers
	Status     string          // Tool only: StatusSuccess (or empty) or StatusError
	Artifact   json.RawMessage // Tool only: for the UI, never sent to a model

	Kwargs           Fields // additional_kwargs
	ResponseMetadata Fields // response_metadata: model_name, finish_reason, provider ids ...
	Extra            Fields // top-level fields that this package does not know
}

// PartType tells the parts of a message apart.
type PartType string

// The types of [Part].
const (
	PartText      PartType = "text"
	PartImage     PartType = "image"
	PartReasoning PartType = "reasoning"
	// PartRaw is a block that this package does not know; Part.Raw holds all of it.
	PartRaw PartType = "raw"
)

// Part is one block of a message's content. Which fields count depends on Type.
type Part struct {
	Type PartType
	// Text of a text or reasoning part.
	Text string
	// URL of an image: an https: address or a data: URL with base64 content. Detail is the vendor's size hint.
	URL, Detail string
	// Signature proves a reasoning part to the vendor that made it; it must be sent back unchanged.
	Signature string
	// Redacted is a reasoning part's encrypted content, when the vendor hides the text.
	Redacted string
	// Raw is the complete block of a PartRaw.
	Raw json.RawMessage
	// Extra holds unknown fields of a known block.
	Extra Fields
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string
	Name string
	// Args is a JSON object, byte for byte as the model wrote it, so that a replay hits the provider's cache.
	Args json.RawMessage
	// Extra holds provider fields that must travel back with the call (such as Gemini's thought signature).
	Extra Fields
}

// InvalidToolCall is a call whose arguments are not a JSON object: cut off, or no JSON at all.
type InvalidToolCall struct {
	ID    string
	Name  string
	Args  string // as the model wrote it
	Error string // what is wrong with it
	Extra Fields
}

// Usage counts tokens of one model call. InputTokens includes cached tokens; OutputTokens includes reasoning.
type Usage struct {
	InputTokens   int
	OutputTokens  int
	TotalTokens   int
	CacheRead     int // part of InputTokens that was read from the provider's cache
	CacheCreation int // part of InputTokens that was written to the provider's cache
	Reasoning     int // part of OutputTokens
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:   u.InputTokens + v.InputTokens,
		OutputTokens:  u.OutputTokens + v.OutputTokens,
		TotalTokens:   u.TotalTokens + v.TotalTokens,
		CacheRead:     u.CacheRead + v.CacheRead,
		CacheCreation: u.CacheCreation + v.CacheCreation,
		Reasoning:     u.Reasoning + v.Reasoning,
	}
}

// Text makes a text part.
func Text(s string) Part { return Part{Type: PartText, Text: s} }

// New makes a message of one text part.
func New(role Role, text string) Message {
	return Message{Role: role, Content: []Part{Text(text)}}
}

// Text returns the visible text: all text parts joined. Reasoning and images are left out.
func (m *Message) Text() string { return m.join(PartText) }

// Reasoning returns the reasoning text of all parts joined.
func (m *Message) Reasoning() string { return m.join(PartReasoning) }

func (m *Message) join(t PartType) string {
	var one string
	for i, p := range m.Content {
		if p.Type != t {
			continue
		}
		if one == "" {
			one = p.Text
			continue
		}
		return one + joinRest(m.Content[i:], t)
	}
	return one
}

func joinRest(parts []Part, t PartType) string {
	var b []byte
	for _, p := range parts {
		if p.Type == t {
			b = append(b, p.Text...)
		}
	}
	return string(b)
}
