// Package tooloutputbudget keeps long tool results out of the conversation. What is longer than a threshold goes into a
// file of the thread, and the model gets a short synopsis in its place: where the whole is, of what kind it is, what it
// is made of, and how it begins and ends. It decides when the result comes, so that the stored message is final and all
// requests show it alike.
//
// A tool that keeps its long output in a file itself (tool.Result.Stored) gets the same synopsis, and no second file.
// Where nothing can be stored the middle of the result is left out. The same is done, on each request, with messages of
// the past that are too long, such as those that another program made; it depends on the message alone.
package tooloutputbudget

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// Config says how long results may be, in characters. Zero means the default, a negative number no bound; for the parts
// of a preview it means that there is none.
type Config struct {
	// Files are the thread's; nil stores nothing.
	Files *sandbox.Files
	// MinChars is the length above which a result goes into a file; default 12,000, negative never.
	MinChars int
	// PreviewHead and PreviewTail bound what a synopsis shows of both ends; default 2000 and 1000.
	PreviewHead, PreviewTail int
	// FallbackMax bounds a result that is in no file, FallbackHead and FallbackTail what is kept of its ends; default
	// 30,000, 8000 and 3000.
	FallbackMax, FallbackHead, FallbackTail int
	// Subdir is the folder in the outputs for the files; default ".tool-results". With a name that [CheckSubdir]
	// refuses nothing is stored.
	Subdir string
	// Exempt are tools whose results stay as they are; nil means read_file and read_file_tool, which read the files.
	Exempt []string
	// Overrides are thresholds of single tools in place of MinChars; 0 or less means never.
	Overrides map[string]int
}

// CheckSubdir reports whether the files can go into a folder of that name: one name, not a path.
func CheckSubdir(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") || !filepath.IsLocal(name) ||
		sandbox.IsTemp(name) {
		return fmt.Errorf("storage folder %.60q must be one name without slashes, such as .tool-results", name)
	}
	return nil
}

// Middleware shortens results.
type Middleware struct{ cfg Config }

var (
	_ agent.ToolCallWrapper  = (*Middleware)(nil)
	_ agent.ModelCallWrapper = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	set(&cfg.MinChars, 12_000)
	set(&cfg.PreviewHead, 2000)
	set(&cfg.PreviewTail, 1000)
	set(&cfg.FallbackMax, 30_000)
	set(&cfg.FallbackHead, 8000)
	set(&cfg.FallbackTail, 3000)
	for _, v := range []*int{&cfg.PreviewHead, &cfg.PreviewTail, &cfg.FallbackHead, &cfg.FallbackTail} {
		*v = max(*v, 0)
	}
	if cfg.Subdir == "" {
		cfg.Subdir = defaultSubdir
	}
	if CheckSubdir(cfg.Subdir) != nil {
		cfg.Files = nil
	}
	if cfg.Exempt == nil {
		cfg.Exempt = []string{"read_file", "read_file_tool"}
	}
	return &Middleware{cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ToolOutputBudgetMiddleware" }

// WrapToolCall implements [agent.ToolCallWrapper]. Of a result it changes the content alone.
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	res, err := next(ctx, req)
	if err != nil || res == nil {
		return res, err
	}
	name := req.Call.Name
	if m.fits(name, res) {
		return res, nil
	}
	text := res.Text()
	short, ok := m.store(name, text, res.Stored)
	if !ok {
		short, ok = m.cut(name, text)
	}
	if !ok {
		return res, nil
	}
	out := *res
	out.Content = []message.Part{message.Text(short)}
	if out.Summary == "" { // what people see is the result, not the synopsis
		out.Summary = firstLine(text)
	}
	return &out, nil
}

// fits reports whether a result stays as it is: it is short, of a tool that is left alone, or holds more than text.
func (m *Middleware) fits(name string, res *tool.Result) bool {
	bound := m.threshold(name)
	if bound <= 0 {
		bound = m.inline(name)
	}
	return bound < 0 || !longer(res.Content, bound) || slices.Contains(m.cfg.Exempt, name)
}

// inline is the length above which a tool's result is cut where it is in no file; negative means never.
func (m *Middleware) inline(name string) int {
	if m.cfg.FallbackMax < 0 {
		return -1
	}
	return max(m.cfg.FallbackMax, m.threshold(name))
}

// threshold is the length above which a tool's result is stored; 0 or less means never.
func (m *Middleware) threshold(name string) int {
	if n, ok := m.cfg.Overrides[name]; ok {
		return n
	}
	return m.cfg.MinChars
}

// longer reports whether the parts are text alone, and of more than limit characters.
func longer(parts []message.Part, limit int) bool {
	size := 0
	for i := range parts {
		if parts[i].Type != message.PartText {
			return false
		}
		size += len(parts[i].Text)
	}
	if size <= limit {
		return false
	}
	n := 0
	for i := range parts {
		n += utf8.RuneCountInString(parts[i].Text)
	}
	return n > limit
}

// WrapModelCall implements [agent.ModelCallWrapper].
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	if msgs, changed := m.bound(req.Messages); changed {
		shorter := *req
		shorter.Messages = msgs
		req = &shorter
	}
	return next(ctx, req)
}

// bound shortens tool messages that are too long for any request.
func (m *Middleware) bound(msgs []message.Message) (out []message.Message, changed bool) {
	if m.cfg.FallbackMax < 0 {
		return msgs, false
	}
	out = msgs
	for i := range msgs {
		msg := &msgs[i]
		if msg.Role != message.Tool || !longer(msg.Content, m.cfg.FallbackMax) ||
			slices.Contains(m.cfg.Exempt, msg.Name) {
			continue
		}
		short, ok := m.cut(msg.Name, msg.Text())
		if !ok { // the tool has a higher bound of its own
			continue
		}
		if !changed {
			out, changed = slices.Clone(msgs), true
		}
		out[i].Content = []message.Part{message.Text(short)}
	}
	return out, changed
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return excerpt.Clip(line, 200)
}
