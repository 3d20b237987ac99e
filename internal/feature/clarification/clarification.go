// Package clarification reads what a model sends when it asks the user a question (the ask_clarification tool) and
// makes two things of it: a text that anybody can read, and the request that clients show as buttons or as a form.
//
// Models are careless with such arguments: options come as JSON in a string, as objects, as markup, as numbers. [Parse]
// therefore never fails; what cannot be used is left out, and a form that a client could not show safely is dropped as
// a whole, which leaves the question as text.
package clarification

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ToolName is the tool that asks.
const ToolName = "ask_clarification"

// Types of a question.
const (
	MissingInfo          = "missing_info"
	AmbiguousRequirement = "ambiguous_requirement"
	ApproachChoice       = "approach_choice"
	RiskConfirmation     = "risk_confirmation"
	Suggestion           = "suggestion"
)

var icons = map[string]string{
	MissingInfo:          "❓",
	AmbiguousRequirement: "🤔",
	ApproachChoice:       "🔀",
	RiskConfirmation:     "⚠️",
	Suggestion:           "💡",
}

// Bounds, in runes where they are of text.
const (
	maxText    = 4000 // question and context
	maxListed  = 100  // options in the text
	maxShown   = 24   // options that clients show
	maxLabel   = 200  // options, labels, placeholders that clients show
	maxFields  = 16
	maxRequest = 16384 // bytes of a form's request
)

// Request is a question to the user. Make one with [Parse].
type Request struct {
	// Question is never empty; Context may be.
	Question, Context string
	// Type is one of the five types.
	Type string
	// Options are the answers to choose from; at most 100, each value once.
	Options []Option
	// Fields make it a form; then Options are not used.
	Fields []Field
}

// Option is one answer to choose from.
type Option struct{ Label, Value string }

// Field is one field of a form.
type Field struct {
	// Name is a letter or _ followed by letters, digits and _.-, unique in its form.
	Name, Label string
	// Type is text, textarea, number, select, multi_select, checkbox or date.
	Type        string
	Required    bool
	Placeholder string
	// Options of a select or multi_select; empty for the others.
	Options []Option
}

// ID is the id of the request and of the tool message that carries it: it is made of the call's id, so that a call that
// runs again replaces its message, or of the text when the call has none.
func (r Request) ID(callID string) string {
	if callID == "" {
		sum := sha256.Sum256([]byte(r.Text()))
		callID = hex.EncodeToString(sum[:8])
	}
	return "clarification:" + callID
}

// Text is the question as the user and the model read it.
func (r Request) Text() string {
	var b strings.Builder
	b.WriteString(icons[r.Type] + " ")
	if r.Context != "" {
		b.WriteString(r.Context + "\n\n")
	}
	b.WriteString(r.Question)
	switch {
	case len(r.Fields) > 0:
		b.WriteString("\n")
		for i, f := range r.Fields {
			b.WriteString(numbered(i, f.line()))
		}
		b.WriteString("\n\nPlease reply with a value for each field.")
	case len(r.Options) > 0:
		b.WriteString("\n")
		for i, o := range r.Options {
			b.WriteString(numbered(i, o.Label))
		}
	}
	return b.String()
}

func (f Field) line() string {
	s := f.Label
	if f.Required {
		s += " (required)"
	}
	if len(f.Options) == 0 {
		return s
	}
	labels := make([]string, len(f.Options))
	for i, o := range f.Options {
		labels[i] = o.Label
	}
	s += " — options: " + strings.Join(labels, " / ")
	if f.Type == "multi_select" {
		s += " (multiple allowed)"
	}
	return s
}
