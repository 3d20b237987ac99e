package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// maxLogin bounds the file of a login.
const maxLogin = 1 << 20

// claudeClass is the class of DeerFlow that also takes a login of Claude Code.
const claudeClass = "deerflow.models.claude_provider:ClaudeChatModel"

// signIn finds a token where there is no API key: in the provider's variables for one, and for the classes that say so
// in the file of another program's login. Such a login is never looked for unless the entry asks for it.
func (m *Model) signIn(p Provider, env Env) error {
	if m.Key != "" {
		return nil
	}
	variables := p.TokenVars
	if m.Use == claudeClass {
		variables = append([]string{"CLAUDE_CODE_OAUTH_TOKEN"}, variables...)
	}
	for _, name := range variables {
		if v := env.Get(name); v != "" {
			m.Key, m.Bearer = Secret(v), true
			return nil
		}
	}
	switch {
	case m.Use == claudeClass:
		return m.claudeLogin(env)
	case p.Name == "codex":
		return m.codexLogin(env)
	}
	return nil
}

// claudeLogin reads the file that `claude` keeps.
func (m *Model) claudeLogin(env Env) error {
	for _, name := range []string{"CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "ANTHROPIC_AUTH_TOKEN_FILE_DESCRIPTOR"} {
		if env.Get(name) != "" {
			return fmt.Errorf("%s is not read, since a descriptor can be read only once: put the token into %s", name,
				strings.TrimSuffix(name, "_FILE_DESCRIPTOR"))
		}
	}
	var file struct {
		Login struct {
			Token   string `json:"accessToken"`
			Expires int64  `json:"expiresAt"` // milliseconds
		} `json:"claudeAiOauth"`
	}
	path := loginPath(env, "CLAUDE_CODE_CREDENTIALS_PATH", ".claude/.credentials.json")
	found, err := readLogin(path, &file)
	if err != nil || !found {
		return err
	}
	if file.Login.Token == "" {
		return fmt.Errorf("read login %s: it has no claudeAiOauth.accessToken: run `claude` and sign in, or set "+
			"ANTHROPIC_API_KEY", path)
	}
	m.Key, m.Bearer = Secret(file.Login.Token), true
	if file.Login.Expires > 0 {
		m.Expires = time.UnixMilli(file.Login.Expires)
	}
	return nil
}

// codexLogin reads the file that `codex login` keeps.
func (m *Model) codexLogin(env Env) error {
	var file struct {
		Tokens struct {
			Access  string `json:"access_token"`
			Account string `json:"account_id"`
		} `json:"tokens"`
	}
	path := loginPath(env, "CODEX_AUTH_PATH", ".codex/auth.json")
	found, err := readLogin(path, &file)
	if err != nil {
		return err
	}
	if !found || file.Tokens.Access == "" {
		return fmt.Errorf("read login %s: there is no tokens.access_token: run `codex login`, or use provider: openai "+
			"with OPENAI_API_KEY", cmp.Or(path, "~/.codex/auth.json"))
	}
	m.Key, m.Bearer, m.Account = Secret(file.Tokens.Access), true, file.Tokens.Account
	return nil
}

// loginPath is where a login is kept: where the variable says, else in the home folder; without a home it is empty.
func loginPath(env Env, variable, inHome string) string {
	path := cmp.Or(env.Get(variable), "~/"+inHome)
	rest, inside := strings.CutPrefix(path, "~/")
	if !inside {
		return path
	}
	if home := env.Get("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, rest)
	}
	return ""
}

// readLogin reads a file of JSON. Nothing of its content appears in an error.
func readLogin(path string, v any) (found bool, err error) {
	if path == "" {
		return false, nil
	}
	data, err := readFile(path, maxLogin)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read login %s: %w", path, err)
	}
	if json.Unmarshal(data, v) != nil {
		return false, fmt.Errorf("read login %s: it is no JSON of the expected shape: sign in anew", path)
	}
	return true, nil
}
