package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/durable"
)

// Secret is text that must not be shown: it prints as "[secret]" in every format.
type Secret string

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the text; an empty secret prints as nothing.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[secret]"
}

// Format hides the text from every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText hides the text from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// CredentialsPath is where keys are stored for good: $XDG_CONFIG_HOME/pudu/credentials.env, else
// ~/.config/pudu/credentials.env. Without a home it is empty.
func CredentialsPath(env Env) string {
	if dir := env.Get("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pudu", "credentials.env")
	}
	if home := env.Get("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "pudu", "credentials.env")
	}
	return ""
}

// SaveCredential sets NAME to value in the credentials file and keeps its other lines. The file gets mode 0600 and its
// folder, when it is made, 0700; a crash leaves the old file or the new one. A link at path stays a link.
func SaveCredential(path, name, value string) error {
	if !envName.MatchString(name) {
		return fmt.Errorf("save credential: %q is no variable name: use letters, digits and _", name)
	}
	if value == "" || len(value) > 16<<10 || strings.ContainsAny(value, "\x00\r\n") {
		return fmt.Errorf("save credential %s: the value must be one line of 1 to 16384 bytes", name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save credential %s: %w", name, err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, err := readFile(path, maxEnvFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("save credential %s: read %s: %w", name, path, err)
	}
	text := setLine(string(old), name, value)
	if len(text) > maxEnvFile {
		return fmt.Errorf("save credential %s: %s would grow above %d KiB", name, path, maxEnvFile>>10)
	}
	if err := durable.Replace(path, []byte(text)); err != nil {
		return fmt.Errorf("save credential %s: %w", name, err)
	}
	return nil
}

// setLine puts the assignment where the name's first one was, or at the end, and drops further ones.
func setLine(text, name, value string) string {
	assignment := name + "=" + quote(value)
	var lines []string
	done := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if n, _, _ := parseEnvLine(strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))); n == name {
			if done {
				continue
			}
			line, done = assignment, true
		}
		lines = append(lines, line)
	}
	if !done {
		lines = append(lines, assignment)
	}
	return strings.Join(lines, "\n") + "\n"
}

func quote(value string) string {
	if !strings.Contains(value, "'") {
		return "'" + value + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(value) + `"`
}

// withCredentials adds the credentials file as the last source, with a warning when others may read it.
func (e Env) withCredentials(path string) (Env, []Warning) {
	if path == "" {
		return e, nil
	}
	env, warnings := e.withFile(path)
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		warnings = append(warnings,
			Warning{File: path, Text: fmt.Sprintf("others may read these keys (mode %04o): run chmod 600 %s",
				info.Mode().Perm(), path)})
	}
	return env, warnings
}
