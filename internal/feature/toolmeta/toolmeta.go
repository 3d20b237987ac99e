// Package toolmeta is what tool results tell the program beside what they tell the model: the names and values that one
// middleware writes into additional_kwargs of a tool message and that others, and clients, read. The model sees none of
// it.
package toolmeta

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
)

// Key is the additional_kwargs key of [Meta].
const Key = "deerflow_tool_meta"

// Meta says what kind of outcome a tool call had.
type Meta struct {
	// Status is StatusSuccess, StatusError or StatusPartial.
	Status string `json:"status"`
	// ErrorType is the kind of error, such as "not_found"; null when there is none.
	ErrorType *string `json:"error_type"`
	// Recoverable tells whether the model can do something about it.
	Recoverable bool `json:"recoverable_by_model"`
	// Next is the sensible next step, one of the Next values.
	Next string `json:"recommended_next_action"`
	// Source tells what the judgement rests on, one of the Source values.
	Source string `json:"source"`
}

// Values of [Meta].Status.
const (
	StatusSuccess = "success"
	StatusError   = "error"
	StatusPartial = "partial_success"
)

// Values of [Meta].Next.
const (
	NextContinue       = "continue"
	NextStop           = "stop" // no other call of this tool can do better
	NextSummarize      = "summarize"
	NextTryAlternative = "try_alternative"
	NextRewriteQuery   = "rewrite_query"
)

// Values of [Meta].Source.
const (
	SourceException = "exception"        // the tool failed with a Go error
	SourceReturn    = "tool_return"      // the tool said so
	SourceContent   = "content_analysis" // nothing but the content
)

// Of returns what a tool message says of its call; false if it says nothing that can be read.
func Of(m message.Message) (Meta, bool) {
	raw := m.Kwargs[Key]
	if m.Role != message.Tool || len(raw) == 0 {
		return Meta{}, false
	}
	var meta Meta
	if json.Unmarshal(raw, &meta) != nil || meta.Status == "" {
		return Meta{}, false
	}
	return meta, true
}

// Kind is the kind of error; empty when there is none.
func (m Meta) Kind() string {
	if m.ErrorType == nil {
		return ""
	}
	return *m.ErrorType
}

// Field is the value that goes under [Key].
func (m Meta) Field() json.RawMessage {
	raw, err := json.Marshal(m)
	if err != nil { // not reached: texts and flags always encode
		return nil
	}
	return raw
}
