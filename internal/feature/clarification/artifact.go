package clarification

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

func numbered(i int, s string) string { return fmt.Sprintf("\n  %d. %s", i+1, s) }

type artifact struct {
	HumanInput Shown `json:"human_input"`
}

// Input modes of a [Shown].
const (
	ModeText   = "free_text"
	ModeChoice = "choice_with_other" // an option, or a text of one's own
	ModeForm   = "form"
)

const requestKind = "human_input_request"

// Shown is a question as clients get it: the human_input of the tool message's artifact. Version 2 is a form.
type Shown struct {
	Version    int           `json:"version"`
	Kind       string        `json:"kind"`
	Source     string        `json:"source"`
	RequestID  string        `json:"request_id"`
	Type       string        `json:"clarification_type"`
	Question   string        `json:"question"`
	InputMode  string        `json:"input_mode"`
	ToolCallID string        `json:"tool_call_id,omitempty"`
	Context    string        `json:"context,omitempty"`
	Options    []ShownOption `json:"options,omitempty"`
	Fields     []ShownField  `json:"fields,omitempty"`
}

// ShownOption is an answer to choose from. Ids and values are unique among the options of one list.
type ShownOption struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Value string `json:"value"`
}

// ShownField is one field of a form; see [Field].
type ShownField struct {
	Name        string        `json:"name"`
	Label       string        `json:"label"`
	Type        string        `json:"type"`
	Required    bool          `json:"required"`
	Placeholder string        `json:"placeholder,omitempty"`
	Options     []ShownOption `json:"options,omitempty"`
}

// Artifact is the artifact of the tool message: {"human_input": the request that clients show}. Options that are too
// many or too long to show are left to the text; the answer is then typed.
func (r Request) Artifact(callID string) json.RawMessage {
	req := Shown{
		Version: 1, Kind: requestKind, Source: ToolName, RequestID: r.ID(callID), Type: r.Type,
		Question: r.Question, InputMode: ModeText, ToolCallID: callID, Context: r.Context,
	}
	switch {
	case len(r.Fields) > 0:
		req.Version, req.InputMode, req.Fields = 2, ModeForm, shownFields(r.Fields)
	case showable(r.Options):
		req.InputMode, req.Options = ModeChoice, shownOptions("", r.Options)
	}
	return encode(artifact{req})
}

// ReadArtifact returns the question that a tool message's artifact holds, and whether it holds one.
func ReadArtifact(raw json.RawMessage) (Shown, bool) {
	var a artifact
	if len(raw) == 0 || json.Unmarshal(raw, &a) != nil {
		return Shown{}, false
	}
	return a.HumanInput, a.HumanInput.Kind == requestKind && a.HumanInput.RequestID != ""
}

// showable reports whether clients may show the options as buttons.
func showable(options []Option) bool {
	for _, o := range options {
		if utf8.RuneCountInString(o.Label) > maxLabel || utf8.RuneCountInString(o.Value) > maxLabel {
			return false
		}
	}
	return len(options) > 0 && len(options) <= maxShown
}

func shownFields(fields []Field) []ShownField {
	out := make([]ShownField, len(fields))
	for i, f := range fields {
		out[i] = ShownField{f.Name, f.Label, f.Type, f.Required, f.Placeholder, shownOptions(f.Name+"-", f.Options)}
	}
	return out
}

func shownOptions(prefix string, options []Option) []ShownOption {
	var out []ShownOption
	for i, o := range options {
		out = append(out, ShownOption{fmt.Sprintf("%soption-%d", prefix, i+1), o.Label, o.Value})
	}
	return out
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) //nolint:errchkjson // strings and bools only: cannot fail
	return bytes.TrimSpace(b.Bytes())
}
