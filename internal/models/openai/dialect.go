package openai

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/model/history"
	"github.com/pudu-ai/pudu/model"
)

// dialect is what one vendor does its own way. The zero value of each field is the plain chat-completions protocol, so
// a new vendor is a row that names only its differences. Reasoning is read from every field in use (reasoning_content,
// reasoning, reasoning_details, thinking blocks of a content list), so a row says no more than whether it hides in the
// text.
type dialect struct {
	name string
	// hosts are the vendor's host names, or "host:port"; a subdomain counts too.
	hosts []string

	// The address and the key.

	root    string // the path of an address that has none
	version string // a query, "name=value", that addresses with the path /deployments/ need
	keyIn   string // the header that carries the key; empty means a bearer token

	// The body.

	maxTokens string // the field that bounds the answer; empty means "max_tokens"
	always    string // fields of every body, as JSON without braces
	noOptions bool   // stream_options is an error, and usage comes without it
	// wholeCalls says that tool calls do not survive streaming, so a request that offers tools asks for the answer
	// whole.
	wholeCalls bool
	thinking   []thinking // by model: the first that matches counts, and none leaves settings unsent

	// The history.

	replay string // the field of an assistant message that takes its reasoning; empty sends none back
	// what stands there, as JSON, beside calls without reasoning while the model may think; empty leaves it out
	blank string
	// details says that the entries of reasoning_details must be sent back as they came.
	details bool
	strict  bool           // unknown fields of a tool call are an error, so they are not sent back
	prose   bool           // the server knows no tool messages and no lists: calls and results go back as text
	rules   *history.Rules // what the conversation must be like; see rules.go

	// The answer.

	tag       string // reasoning may open the text, inside <tag> and </tag>
	textCalls bool   // calls may stand in the text, where tools are offered; see formats.go
	unescape  bool   // a whole answer may write \n for its line breaks
}

// replayContent sends reasoning back as a thinking block of the content.
const replayContent = "content"

// thinking is how the thinking of some models is switched and measured.
type thinking struct {
	// models are shell patterns for the vendor's name of the model, divided by spaces, in lower case; a pattern may
	// match what follows the last slash alone. Empty matches all.
	models string
	// on and off are fields of the body, as JSON without braces; empty means that there is no such switch.
	on, off string
	// effort is the field that takes Settings.Effort, "a.b" for b in the object a; empty means that there is none.
	effort string
	// levels are the efforts that the vendor knows; another one becomes the nearest. Without levels each is sent as it
	// is.
	levels []level
}

// level is an effort and how the vendor writes it, as JSON; empty is what happens without the field.
type level struct{ effort, value string }

// words are levels that are written as they are called.
func words(list string) []level {
	var out []level
	for w := range strings.FieldsSeq(list) {
		out = append(out, level{w, `"` + w + `"`})
	}
	return out
}

// nearest is the level for an effort: itself, or the closest, of two the lower. Another word than those of
// model.Efforts is sent as it is, so that the vendor says what it thinks of it.
func (t *thinking) nearest(effort string) string {
	at := slices.Index(model.Efforts(), effort)
	if at < 0 || len(t.levels) == 0 {
		return quote(effort)
	}
	best, far := "", len(model.Efforts())
	for _, l := range t.levels {
		n := slices.Index(model.Efforts(), l.effort) - at
		if n = max(n, -n); n < far {
			best, far = l.value, n
		}
	}
	return best
}

// thinks returns how the model's thinking is switched, nil if nothing is known.
func (d *dialect) thinks(model string) *thinking {
	name := strings.ToLower(model)
	for i := range d.thinking {
		if t := &d.thinking[i]; t.models == "" || matches(t.models, name) {
			return t
		}
	}
	return nil
}

func matches(patterns, name string) bool {
	for p := range strings.FieldsSeq(patterns) {
		for _, s := range []string{name, path.Base(name)} {
			if ok, _ := path.Match(p, s); ok {
				return true
			}
		}
	}
	return false
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
	return slices.ContainsFunc(d.hosts, func(h string) bool {
		return u.Host == h || strings.HasSuffix(u.Hostname(), "."+h) || u.Hostname() == h
	})
}

// endpoint adds to the base address the path, and the query that the vendor asks for there. A base that is no address
// is returned as it is: the call reports it.
func (d *dialect) endpoint(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = d.root
	}
	if name, value, ok := strings.Cut(d.version, "="); ok && strings.Contains(u.Path, "/deployments/") &&
		!u.Query().Has(name) {
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
	}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions") {
		return u.String()
	}
	return u.JoinPath("chat/completions").String()
}

func dialectNames() string {
	var names []string
	for i := range dialects {
		names = append(names, dialects[i].name)
	}
	return strings.Join(names, ", ")
}
