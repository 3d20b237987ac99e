package openai

import (
	"net/url"
	"strings"
)

// dialect is what one vendor does its own way. The zero value of each field is the plain chat-completions protocol.
type dialect struct {
	name string
	// hosts are the vendor's host names; a subdomain counts too.
	hosts []string
	// maxTokens is the field that bounds the answer; empty means "max_tokens".
	maxTokens string
	// replay is the field of an assistant message in which its reasoning is sent back; empty sends none back.
	replay string
	// effort is the field that takes Settings.Effort; empty means "reasoning_effort". "a.b" is b in the object a.
	effort string
	// on and off are the fields that switch thinking, as JSON without braces; empty means that there is no switch.
	on, off string
	// strict says that unknown fields of a tool call are an error to the vendor, so they are not sent back.
	strict bool
	// details says that the entries of reasoning_details must be sent back as they came.
	details bool
}

// dialects is the table of vendors. The last one serves everybody else.
var dialects = []dialect{
	{name: "openai", hosts: []string{"api.openai.com", "openai.azure.com"}, maxTokens: "max_completion_tokens", strict: true},
	{name: "deepseek", hosts: []string{"api.deepseek.com"}, replay: "reasoning_content",
		on: `"thinking":{"type":"enabled"}`, off: `"thinking":{"type":"disabled"}`},
	{name: "openrouter", hosts: []string{"openrouter.ai"}, replay: "reasoning", effort: "reasoning.effort",
		on: `"reasoning":{"enabled":true}`, off: `"reasoning":{"enabled":false}`, details: true},
	// Gemini signs its calls in extra_content (or thought_signature): they live in ToolCall.Extra and travel back there.
	{name: "gemini", hosts: []string{"generativelanguage.googleapis.com"}, off: `"reasoning_effort":"none"`},
	{name: "ollama", hosts: []string{"ollama.com", "localhost:11434", "127.0.0.1:11434"}, replay: "reasoning",
		off: `"reasoning_effort":"none"`},
	{name: "generic"},
}

// findDialect returns the dialect of that name, or, without a name, the one of the host; nil if the name is unknown.
func findDialect(name, base string) *dialect {
	for i := range dialects {
		d := &dialects[i]
		if name != "" && d.name == name || name == "" && d.serves(base) {
			return d
		}
	}
	if name != "" {
		return nil
	}
	return &dialects[len(dialects)-1]
}

func (d *dialect) serves(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	for _, h := range d.hosts {
		if u.Host == h || strings.HasSuffix(u.Hostname(), "."+h) || u.Hostname() == h {
			return true
		}
	}
	return false
}

func dialectNames() string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.name)
	}
	return strings.Join(names, ", ")
}
