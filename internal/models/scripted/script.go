package scripted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// maxScript bounds a script file, in bytes.
const maxScript = 4 << 20

// script is a parsed file.
type script struct {
	Name      string     `yaml:"name"`
	Dialogues []dialogue `yaml:"dialogues"`
}

type dialogue struct {
	Match *pattern `yaml:"match"`
	Final *text    `yaml:"final"`
	Turns []turn   `yaml:"turns"`
}

type turn struct {
	Text         text          `yaml:"text"`
	Reasoning    text          `yaml:"reasoning"`
	ToolCalls    []call        `yaml:"tool_calls"`
	Delay        time.Duration `yaml:"delay"`
	ChunkDelay   time.Duration `yaml:"chunk_delay"`
	ChunkSize    int           `yaml:"chunk_size"`
	Usage        *usage        `yaml:"usage"`
	FinishReason string        `yaml:"finish_reason"`
	Error        *failure      `yaml:"error"`
}

type call struct {
	Name string `yaml:"name"`
	Args args   `yaml:"args"`
}

type usage struct {
	Input     int `yaml:"input_tokens"`
	Output    int `yaml:"output_tokens"`
	CacheRead int `yaml:"cache_read"`
}

func (u *usage) counts() *message.Usage {
	if u == nil {
		return nil
	}
	return &message.Usage{InputTokens: u.Input, OutputTokens: u.Output, TotalTokens: u.Input + u.Output,
		CacheRead: u.CacheRead}
}

type failure struct {
	Class      class         `yaml:"class"`
	Status     int           `yaml:"status"`
	Code       string        `yaml:"code"`
	Message    string        `yaml:"message"`
	RetryAfter time.Duration `yaml:"retry_after"`
}

// parse reads a script. JSON is read as the YAML that it is.
func parse(data []byte) (*script, error) {
	if len(data) > maxScript {
		return nil, errors.New("the script is larger than 4 MiB; split it")
	}
	var s script
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil && err != io.EOF {
		return nil, plainError(err)
	}
	if len(s.Dialogues) == 0 {
		return nil,
			errors.New(`line 1: there are no dialogues; add "dialogues:" with at least one entry that has "turns:"`)
	}
	for i, d := range s.Dialogues {
		if len(d.Turns) == 0 {
			return nil, fmt.Errorf(`dialogue %d has no turns; add "turns:" with at least one entry`, i+1)
		}
		for j, t := range d.Turns {
			if slices.ContainsFunc(t.ToolCalls, func(c call) bool { return c.Name == "" }) {
				return nil, fmt.Errorf(`dialogue %d, turn %d: a tool call has no name; add "name:"`, i+1, j+1)
			}
		}
	}
	return &s, nil
}

// plainError puts the decoder's list of errors into one line without Go's type names.
func plainError(err error) error {
	var list *yaml.TypeError
	if !errors.As(err, &list) {
		return fmt.Errorf("%s; check the indentation and quotes there", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	for i, e := range list.Errors {
		e, _, _ = strings.Cut(e, " in type scripted.")
		list.Errors[i] = strings.ReplaceAll(e, "scripted.", "")
	}
	return fmt.Errorf("%s; use the fields that the package's documentation lists", strings.Join(list.Errors, "; "))
}

// pattern is a regular expression in a script.
type pattern struct{ *regexp.Regexp }

// UnmarshalYAML compiles the expression.
func (p *pattern) UnmarshalYAML(n *yaml.Node) (err error) {
	if p.Regexp, err = regexp.Compile(n.Value); err != nil {
		return fmt.Errorf("line %d: match is not a regular expression: %w; write it in Go's syntax", n.Line, err)
	}
	return nil
}

// class is a [model.Class] in a script.
type class model.Class

var classes = []model.Class{model.ClassAuth, model.ClassQuota, model.ClassRateLimit, model.ClassBurst, model.ClassBusy,
	model.ClassTransient, model.ClassContextLength, model.ClassNotFound, model.ClassTooLarge, model.ClassBadRequest}

// UnmarshalYAML accepts the known classes.
func (c *class) UnmarshalYAML(n *yaml.Node) error {
	if !slices.Contains(classes, model.Class(n.Value)) {
		return fmt.Errorf("line %d: unknown error class %q; use one of %v", n.Line, n.Value, classes)
	}
	*c = class(n.Value)
	return nil
}

// text is a template in a script. The zero value is an empty text.
type text struct {
	tmpl *template.Template
	line int
}

// UnmarshalYAML parses the template.
func (t *text) UnmarshalYAML(n *yaml.Node) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a text is expected here; quote it", n.Line)
	}
	return t.parse(n)
}

func (t *text) parse(n *yaml.Node) (err error) {
	t.line = n.Line
	t.tmpl, err = template.New("text").Option("missingkey=error").Funcs(functions()).Parse(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w; correct the template", n.Line, err)
	}
	return nil
}
