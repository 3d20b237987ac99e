package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

const maxEnvFile = 256 << 10

// Env is an environment in layers: the first layer that has a name wins. The zero value has no variables.
type Env struct {
	layers []layer
}

type layer struct {
	source string
	lookup func(string) (string, bool)
}

// EnvFrom makes an environment of one layer, such as os.LookupEnv.
func EnvFrom(lookup func(string) (string, bool)) Env {
	return Env{layers: []layer{{lookup: lookup}}}
}

// Lookup returns the value of a variable and whether it is set.
func (e Env) Lookup(name string) (string, bool) {
	for _, l := range e.layers {
		if v, ok := l.lookup(name); ok {
			return v, true
		}
	}
	return "", false
}

// Get returns the value without surrounding space; empty and unset are the same.
func (e Env) Get(name string) string {
	v, _ := e.Lookup(name)
	return strings.TrimSpace(v)
}

// Source names the file that a variable comes from; empty means the process's environment, or that it is not set.
func (e Env) Source(name string) string {
	for _, l := range e.layers {
		if _, ok := l.lookup(name); ok {
			return l.source
		}
	}
	return ""
}

// describe is "NAME", or "NAME from FILE".
func (e Env) describe(name string) string {
	if src := e.Source(name); src != "" {
		return name + " from " + src
	}
	return name
}

func (e Env) with(source string, vars map[string]string) Env {
	if len(vars) == 0 {
		return e
	}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	return Env{layers: append(slices.Clip(e.layers), layer{source, lookup})}
}

// withFile adds an env file behind what is there. A file that does not exist adds nothing, a broken one warnings.
func (e Env) withFile(path string) (Env, []Warning) {
	data, err := readFile(path, maxEnvFile)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, []Warning{{File: path, Text: "not read: " + err.Error()}}
	}
	vars, bad := parseEnv(string(data))
	warnings := make([]Warning, len(bad))
	for i, line := range bad {
		warnings[i] = Warning{File: path, Line: line,
			Text: "line left out: write NAME=VALUE, and close quotes on the same line"}
	}
	return e.with(path, vars), warnings
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseEnv reads NAME=VALUE lines: "export " in front, 'literal' and "escaped" quotes and # comments are understood.
// The last value of a name wins. bad holds the numbers of lines that say nothing.
func parseEnv(text string) (vars map[string]string, bad []int) {
	vars = map[string]string{}
	text = strings.TrimPrefix(text, "\ufeff")
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := parseEnvLine(line)
		if !ok {
			bad = append(bad, i+1)
			continue
		}
		vars[name] = value
	}
	return vars, bad
}

func parseEnvLine(line string) (name, value string, ok bool) {
	if rest, found := strings.CutPrefix(line, "export"); found && strings.TrimLeft(rest, " \t") != rest {
		line = rest
	}
	name, value, ok = strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !envName.MatchString(name) || strings.ContainsRune(value, 0) {
		return "", "", false
	}
	value, ok = unquote(value)
	return name, value, ok
}

func unquote(s string) (string, bool) {
	if s == "" {
		return "", true
	}
	var value, rest string
	switch s[0] {
	case '\'':
		end := strings.IndexByte(s[1:], '\'')
		if end < 0 {
			return "", false
		}
		value, rest = s[1:end+1], s[end+2:]
	case '"':
		var ok bool
		if value, rest, ok = unescape(s[1:]); !ok {
			return "", false
		}
	default:
		return bare(s), true
	}
	rest = strings.TrimSpace(rest)
	return value, rest == "" || rest[0] == '#'
}

// bare cuts an unquoted value at a comment, which begins with a # after a space.
func bare(s string) string {
	for i := range len(s) {
		if s[i] == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t') {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}

// unescape reads up to the closing quote.
func unescape(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteString(escaped(s[i]))
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

func escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$':
		return string(c)
	}
	return string([]byte{'\\', c})
}

// readFile reads a regular file of at most limit bytes. It never blocks on a pipe or a device.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %d KiB", limit>>10)
	}
	return data, nil
}
