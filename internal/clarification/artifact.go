package clarification

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

func numbered(i int, s string) string { return fmt.Sprintf("\n  %d. %s", i+1, s) }

type artifact struct {
	HumanInput request `json:"human_input"`
}

// request is what clients show. Version 2 is a form.
type request struct {
	Version    int      `json:"version"`
	Kind       string   `json:"kind"`
	Source     string   `json:"source"`
	RequestID  string   `json:"request_id"`
	Type       string   `json:"clarification_type"`
	Question   string   `json:"question"`
	InputMode  string   `json:"input_mode"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
	Context    string   `json:"context,omitempty"`
	Options    []option `json:"options,omitempty"`
	Fields     []field  `json:"fields,omitempty"`
}

type option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Value string `json:"value"`
}

type field struct {
	Name        string   `json:"name"`
	Label       string   `json:"label"`
	Type        string   `json:"type"`
	Required    bool     `json:"required"`
	Placeholder string   `json:"placeholder,omitempty"`
	Options     []option `json:"options,omitempty"`
}

// Artifact is the artifact of the tool message: {"human_input": the request that clients show}. Options that are too
// many or too long to show are left to the text; the answer is then typed.
func (r Request) Artifact(callID string) json.RawMessage {
	req := request{
		Version: 1, Kind: "human_input_request", Source: ToolName, RequestID: r.ID(callID), Type: r.Type,
		Question: r.Question, InputMode: "free_text", ToolCallID: callID, Context: r.Context,
	}
	switch {
	case len(r.Fields) > 0:
		req.Version, req.InputMode, req.Fields = 2, "form", wireFields(r.Fields)
	case showable(r.Options):
		req.InputMode, req.Options = "choice_with_other", wireOptions("", r.Options)
	}
	return encode(artifact{req})
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

func wireFields(fields []Field) []field {
	out := make([]field, len(fields))
	for i, f := range fields {
		out[i] = field{f.Name, f.Label, f.Type, f.Required, f.Placeholder, wireOptions(f.Name+"-", f.Options)}
	}
	return out
}

func wireOptions(prefix string, options []Option) []option {
	var out []option
	for i, o := range options {
		out = append(out, option{fmt.Sprintf("%soption-%d", prefix, i+1), o.Label, o.Value})
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
