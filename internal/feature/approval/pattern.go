package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/lib/shellwords"
)

// MaxPattern bounds the text of a pattern, in bytes.
const MaxPattern = 2000

// shellTool is the tool whose calls are compared by their command alone.
const shellTool = "bash"

// Pattern says which calls of a tool a grant covers. It is compared with the whole subject of a call: the command of
// bash, byte for byte, and the arguments of any other tool as JSON, without the white space between them.
//
// A pattern that is not exact ends in "*":
//
//	git status*              of bash: the command begins with "git status", and is one plain command: no sign of the shell
//	                         (; & | < > $ ` ( ) { } [ ] * ? ! # ~ \), no line break, nothing that only starts another
//	                         command (sudo, env, xargs, bash -c)
//	{"path":"/a/*","n":1}    of another tool: it has these arguments and no others; a text that ends in "*" is compared up
//	                         to there, what follows climbs out by no ".."; "*" alone is any text
type Pattern struct {
	Text string
	// Exact says that a "*" at an end is none.
	Exact bool
}

// PatternOf is the pattern that covers one call alone.
func PatternOf(tool string, args json.RawMessage) (Pattern, error) {
	text, err := subject(tool, args)
	if err == nil {
		err = checkText(text)
	}
	return Pattern{text, true}, err
}

// ParsePattern reads a pattern as a person says it. A "*" at an end stands for what may follow.
func ParsePattern(tool, text string) (Pattern, error) {
	p := Pattern{Text: text}
	if err := checkText(text); err != nil {
		return p, err
	}
	if tool == shellTool {
		prefix, open := strings.CutSuffix(text, "*")
		p.Exact = !open
		if open && (!plain(prefix) || strings.IndexByte(prefix, ' ') < 1) {
			return p,
				fmt.Errorf(`the pattern %.100q is too wide: before its "*" stand the program and a blank at least, `+
					`and no `+
					`sign of the shell, as in "git status*"`, text)
		}
		return p, nil
	}
	return parseArguments(p)
}

// parseArguments reads a pattern of arguments.
func parseArguments(p Pattern) (Pattern, error) {
	args, ok := members(json.RawMessage(p.Text))
	if !ok {
		return p,
			fmt.Errorf(`the pattern %.100q is no object of arguments, such as {"path":"/mnt/user-data/outputs/*"}`,
				p.Text)
	}
	p.Text, p.Exact = compact(json.RawMessage(p.Text)), true
	anything := len(args) > 0
	for name, raw := range args {
		prefix, open := cutStar(raw)
		p.Exact = p.Exact && !open
		anything = anything && open && prefix == ""
		if _, host, isURL := strings.Cut(prefix, "://"); open && isURL && !strings.Contains(host, "/") {
			return p,
				fmt.Errorf(`the pattern of %q is too wide: a "/" stands behind the host, as in "https://example.com/*"`,
					name)
		}
	}
	if anything {
		return p, errors.New("the pattern covers every call of the tool: say at least one argument")
	}
	return p, nil
}

// Covers reports whether the pattern covers a call of the tool.
func (p Pattern) Covers(tool string, args json.RawMessage) bool {
	text, err := subject(tool, args)
	switch {
	case err != nil:
		return false
	case p.Exact:
		return p.Text == text
	case tool == shellTool:
		prefix, open := strings.CutSuffix(p.Text, "*")
		return open && strings.HasPrefix(text, prefix) && plain(text) && single(text)
	}
	return coversArguments(p.Text, args)
}

// subject is what of a call a pattern is compared with.
func subject(tool string, args json.RawMessage) (string, error) {
	list, ok := members(args)
	if !ok {
		return "", errors.New("the arguments are no object whose names differ")
	}
	if tool != shellTool {
		return compact(args), nil
	}
	command, ok := rawjson.String(list["command"])
	delete(list, "command")
	delete(list, "description") // says why, and does nothing
	if !ok || len(list) > 0 {
		return "", errors.New("the call has no command, or more arguments than that")
	}
	return command, nil
}

// members are those of an object in which no name stands twice, in any case: what reads it may take either.
func members(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	list := make(map[string]json.RawMessage)
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		text, ok := name.(string)
		if err != nil || !ok {
			return nil, false
		}
		for other := range list {
			if strings.EqualFold(other, text) {
				return nil, false
			}
		}
		list[text] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return list, errors.Is(err, io.EOF)
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// checkText refuses what cannot be kept as a pattern in every database.
func checkText(text string) error {
	switch {
	case text == "":
		return errors.New("the pattern is empty")
	case len(text) > MaxPattern:
		return fmt.Errorf("the pattern has %d bytes, more than %d: allow the call once", len(text), MaxPattern)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return errors.New("the pattern is no text of UTF-8 without NUL")
	}
	return nil
}

// signs mean something to a shell, wherever they stand.
const signs = "`$;&|<>(){}[]*?!#~\\"

// plain reports whether a text has nothing but what can be seen, blanks, and no sign of the shell.
func plain(text string) bool {
	return !strings.ContainsRune(text, utf8.RuneError) && !strings.ContainsAny(text, signs) &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// single reports whether a line is one command, the program that it begins with, which starts no other that is known
// to.
func single(line string) bool {
	script, err := shellwords.Parse(line)
	if err != nil || len(script.Commands) != 1 {
		return false
	}
	c := script.Commands[0]
	first, _, _ := strings.Cut(line, " ")
	return c.Name.Text == first && !c.Name.Open && len(c.Before)+len(c.Assigns)+len(c.Redirects)+len(c.From) == 0
}

// cutStar takes the "*" off the end of a JSON string; open is false if there is none.
func cutStar(raw json.RawMessage) (prefix string, open bool) {
	text, ok := rawjson.String(raw)
	if !ok {
		return "", false
	}
	prefix, open = strings.CutSuffix(text, "*")
	return prefix, open
}

// coversArguments compares the arguments of a call with a pattern of them.
func coversArguments(pattern string, raw json.RawMessage) bool {
	wanted, ok := members(json.RawMessage(pattern))
	args, okArgs := members(raw)
	if !ok || !okArgs || len(wanted) != len(args) {
		return false
	}
	for name, want := range wanted {
		got, there := args[name]
		if !there || !coversArgument(want, got) {
			return false
		}
	}
	return true
}

func coversArgument(want, got json.RawMessage) bool {
	prefix, open := cutStar(want)
	if !open {
		return compact(want) == compact(got)
	}
	text, ok := rawjson.String(got)
	return ok && (prefix == "" || strings.HasPrefix(text, prefix) && stays(text))
}

// escaped are signs of paths as URLs write them.
var escaped = strings.NewReplacer("%2e", ".", "%2f", "/", "%5c", "/", `\`, "/")

// stays reports whether a path or URL has no segment that climbs, and nothing that cannot be seen.
func stays(text string) bool {
	if strings.ContainsRune(text, utf8.RuneError) ||
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		return false
	}
	return !slices.Contains(strings.Split(escaped.Replace(strings.ToLower(text)), "/"), "..")
}
