package skills

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/pudu-ai/pudu/internal/secrets"
)

const (
	// FileName is the name of a skill's main file.
	FileName = "SKILL.md"
	// MaxName bounds a name, in characters.
	MaxName = 64
	// MaxDescription bounds a description, in characters.
	MaxDescription = 1024
	// MaxText bounds a SKILL.md, in bytes: a model reads it whole. maxHead bounds what stands before the text.
	MaxText = 256 << 10
	maxHead = 32 << 10
	// maxDepth is how deep the head's lists and tables may lie in each other.
	maxDepth = 8
)

// Head is what a SKILL.md says of the skill before its text.
type Head struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	License     string `json:"license,omitempty"`
	Version     string `json:"version,omitempty"`
	Author      string `json:"author,omitempty"`
	// Tools are those that a run may use while the skill is active; nil is no limit, an empty list none but the
	// program's own.
	Tools []string `json:"allowed_tools"`
	// Secrets are what the skill's commands need in their environment.
	Secrets []Secret `json:"required_secrets,omitempty"`
	// Ask says that the secrets are given only when a person has named the skill.
	Ask bool `json:"secrets_ask,omitempty"`
}

// Secret is a value that a skill's commands find in their environment.
type Secret struct {
	Name     string `json:"name"`
	Optional bool   `json:"optional,omitempty"`
}

// InvalidError says what is wrong with a skill's SKILL.md.
type InvalidError struct{ Text string }

// Error implements error.
func (e *InvalidError) Error() string { return e.Text }

func invalidf(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// CheckName refuses what is no skill's name.
func CheckName(name string) error {
	n := utf8.RuneCountInString(name)
	switch {
	case !plainName.MatchString(name):
		return invalidf("Name '%.80s' should be hyphen-case (lowercase letters, digits, and hyphens only)", name)
	case strings.HasPrefix(name, "-"), strings.HasSuffix(name, "-"), strings.Contains(name, "--"):
		return invalidf("Name '%.80s' cannot start/end with hyphen or contain consecutive hyphens", name)
	case n > MaxName:
		return invalidf("Name is too long (%d characters). Maximum is %d characters.", n, MaxName)
	}
	return nil
}

// cutHead is the head of a SKILL.md: the lines between the first two of "---".
func cutHead(text string) (head string, ok bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t\r") != "---" {
		return "", false
	}
	for at := 0; at < len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t\r") == "---" {
			return rest[:at], true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", false
}

// ParseHead reads the head of a SKILL.md by the rules for what is installed or written. Its errors are an
// [InvalidError].
func ParseHead(text string) (Head, error) {
	switch {
	case len(text) > MaxText:
		return Head{}, invalidf("%s is too long (%d bytes). Maximum is %d bytes.", FileName, len(text), MaxText)
	case !utf8.ValidString(text):
		return Head{}, invalidf("%s must be valid UTF-8", FileName)
	case !strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "---"):
		return Head{}, invalidf("No YAML frontmatter found")
	}
	head, ok := cutHead(text)
	if !ok {
		return Head{}, invalidf("Invalid frontmatter format")
	}
	table, err := readTable(head)
	if err != nil {
		return Head{}, err
	}
	return headOf(table)
}

// readTable reads the YAML of a head. It is plain data: no anchors, which could make much of little, and no types by
// name.
func readTable(head string) (*yaml.Node, error) {
	if len(head) > maxHead {
		return nil, invalidf("Frontmatter is too long (%d bytes). Maximum is %d bytes.", len(head), maxHead)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		return nil, invalidf("Invalid YAML in frontmatter: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, invalidf("Frontmatter must be a YAML dictionary")
	}
	return doc.Content[0], plain(doc.Content[0], 0)
}

// plain refuses what is no plain data.
func plain(n *yaml.Node, depth int) error {
	known := []string{"", "!", "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp"}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return invalidf("Invalid YAML in frontmatter: line %d: anchors and aliases are not allowed", n.Line)
	case !slices.Contains(known, n.Tag) || n.Style&yaml.TaggedStyle != 0:
		return invalidf("Invalid YAML in frontmatter: line %d: tags such as %.40s are not allowed", n.Line, n.Tag)
	case depth > maxDepth:
		return invalidf("Invalid YAML in frontmatter: line %d: more than %d levels", n.Line, maxDepth)
	}
	seen := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if c.Kind != yaml.ScalarNode {
				return invalidf("Invalid YAML in frontmatter: line %d: a key must be a word", c.Line)
			}
			if seen[c.Value] {
				return invalidf("Invalid YAML in frontmatter: line %d: key %.40q stands there twice", c.Line, c.Value)
			}
			seen[c.Value] = true
		}
		if err := plain(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// keys are those that a head may have.
func keys() []string {
	return []string{
		"name", "description", "license", "allowed-tools", "required-secrets", "secrets-autonomous", "metadata",
		"compatibility", "version", "author",
	}
}

func headOf(t *yaml.Node) (Head, error) {
	values := map[string]*yaml.Node{}
	var unknown []string
	for i := 0; i+1 < len(t.Content); i += 2 {
		key := t.Content[i].Value
		values[key] = t.Content[i+1]
		if !slices.Contains(keys(), key) {
			unknown = append(unknown, key)
		}
	}
	if unknown != nil {
		slices.Sort(unknown)
		return Head{}, invalidf("Unexpected key(s) in SKILL.md frontmatter: %.200s", strings.Join(unknown, ", "))
	}
	var h Head
	var err error
	if h.Name, err = word(values, "name", "Name"); err == nil {
		h.Description, err = word(values, "description", "Description")
	}
	if err == nil {
		err = CheckName(h.Name)
	}
	if err == nil {
		err = checkDescription(h.Description)
	}
	if err == nil {
		err = h.rest(values)
	}
	return h, err
}

// word is a member that must be there and be a text.
func word(values map[string]*yaml.Node, key, called string) (string, error) {
	n := values[key]
	switch {
	case n == nil:
		return "", invalidf("Missing '%s' in frontmatter", key)
	case n.Kind != yaml.ScalarNode || n.Tag != "!!str":
		return "", invalidf("%s must be a string, got %s", called, kindOf(n))
	}
	s := strings.TrimSpace(n.Value)
	if s == "" {
		return "", invalidf("%s cannot be empty", called)
	}
	return s, nil
}

// kindOf names a value's type as DeerFlow does.
func kindOf(n *yaml.Node) string {
	names := map[string]string{
		"!!map": "dict", "!!seq": "list", "!!int": "int", "!!float": "float", "!!bool": "bool", "!!null": "NoneType",
		"!!timestamp": "date",
	}
	if name, ok := names[n.Tag]; ok {
		return name
	}
	return "str"
}

func checkDescription(s string) error {
	n := utf8.RuneCountInString(s)
	switch {
	case strings.ContainsAny(s, "<>"):
		return invalidf("Description cannot contain angle brackets (< or >)")
	case n > MaxDescription:
		return invalidf("Description is too long (%d characters). Maximum is %d characters.", n, MaxDescription)
	case strings.ContainsFunc(s, hidden):
		return invalidf("Description cannot contain control or invisible characters")
	}
	return nil
}

// hidden are characters that people do not see, or that turn the order of those which they see.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return false
	case r < ' ', 0x7f <= r && r < 0xa0, 0x200b <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2060 <= r &&
		r <= 0x206f, r == 0xfeff:
		return r != 0x200d // which joins the parts of an emoji
	}
	return 0xe0000 <= r && r <= 0xe007f
}

// rest reads the members that need not be there.
func (h *Head) rest(values map[string]*yaml.Node) error {
	for key, into := range map[string]*string{"license": &h.License, "version": &h.Version, "author": &h.Author} {
		if n := values[key]; n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			*into = strings.Join(strings.Fields(strings.Map(visible, n.Value)), " ")
		}
	}
	if n := values["allowed-tools"]; n != nil {
		h.Tools = []string{}
		if n.Kind != yaml.SequenceNode {
			return errTools
		}
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode || c.Tag != "!!str" || strings.TrimSpace(c.Value) == "" {
				return errTools
			}
			h.Tools = append(h.Tools, strings.TrimSpace(c.Value))
		}
	}
	if n := values["secrets-autonomous"]; n != nil {
		h.Ask = n.Tag != "!!bool" || !strings.EqualFold(n.Value, "true") // what is malformed is no permission
	}
	return h.secrets(values["required-secrets"])
}

func visible(r rune) rune {
	if hidden(r) {
		return -1
	}
	return r
}

var errTools = invalidf("allowed-tools in SKILL.md must be a list of strings")

func (h *Head) secrets(n *yaml.Node) error {
	bad := errors.New("required-secrets in SKILL.md must be a list of names of environment variables, or of {name, " +
		"optional}")
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return invalidf("%s", bad)
	}
	for _, c := range n.Content {
		var s Secret
		switch {
		case c.Kind == yaml.ScalarNode && c.Tag == "!!str":
			s.Name = c.Value
		case c.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(c.Content); i += 2 {
				switch v := c.Content[i+1]; c.Content[i].Value {
				case "name":
					s.Name = v.Value
				case "optional":
					s.Optional = strings.EqualFold(v.Value, "true")
				}
			}
		}
		if s.Name == "" {
			return invalidf("%s", bad)
		}
		if err := secrets.CheckName(s.Name); err != nil {
			return invalidf("%s: %s", bad, err)
		}
		if !slices.ContainsFunc(h.Secrets, func(other Secret) bool { return other.Name == s.Name }) {
			h.Secrets = append(h.Secrets, s)
		}
	}
	if len(h.Secrets) > secrets.MaxCount {
		return invalidf("%s: there are more than %d", bad, secrets.MaxCount)
	}
	return nil
}

// Describe reads name and description of a SKILL.md that need not be whole or right; what it cannot find out is empty.
func Describe(text string) (name, description string) {
	head, ok := cutHead(strings.ToValidUTF8(text[:min(len(text), maxHead)], "\ufffd"))
	if !ok {
		return "", ""
	}
	table, err := readTable(head)
	if err != nil {
		return "", ""
	}
	for i := 0; i+1 < len(table.Content); i += 2 {
		value := strings.Join(strings.Fields(table.Content[i+1].Value), " ")
		switch table.Content[i].Value {
		case "name":
			name = value
		case "description":
			description = value
		}
	}
	return name, description
}
