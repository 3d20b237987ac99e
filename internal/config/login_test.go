package config

import (
	"strings"
	"testing"
	"time"
)

const (
	claudeEntry = `{use: "deerflow.models.claude_provider:ClaudeChatModel", model: m}`
	codexEntry  = `{use: "deerflow.models.openai_codex_provider:CodexChatModel", model: m}`
)

func TestLogins(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.claude/.credentials.json",
		`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-a","refreshToken":"r","expiresAt":1790000000000}}`)
	write(t, home+"/.codex/auth.json",
		`{"OPENAI_API_KEY":null,"tokens":{"id_token":"i","access_token":"acc","refresh_token":"r","account_id":"acct"}}`)
	other := write(t, home+"/other.json", `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-b"}}`)
	for _, c := range []struct {
		name, entry string
		env         map[string]string
		key         string
		bearer      bool
	}{
		{"an API key first", claudeEntry, map[string]string{"ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_OAUTH_TOKEN": "t"},
			"k", false},
		{"a token of Claude Code", claudeEntry,
			map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "t", "ANTHROPIC_AUTH_TOKEN": "u"}, "t", true},
		{"a bearer token", claudeEntry, map[string]string{"ANTHROPIC_AUTH_TOKEN": "u"}, "u", true},
		{"a bearer token for anybody", `{provider: anthropic, model: m}`,
			map[string]string{"ANTHROPIC_AUTH_TOKEN": "u"}, "u", true},
		{"the file that a variable names", claudeEntry,
			map[string]string{"HOME": home, "CLAUDE_CODE_CREDENTIALS_PATH": other}, "sk-ant-oat01-b", true},
		{"a path from the home", claudeEntry,
			map[string]string{"HOME": home, "CLAUDE_CODE_CREDENTIALS_PATH": "~/other.json"}, "sk-ant-oat01-b", true},
		{"the file of Claude Code", claudeEntry, map[string]string{"HOME": home}, "sk-ant-oat01-a", true},
		{"the file of Codex", codexEntry, map[string]string{"HOME": home}, "acc", true},
		{"its own key", codexEntry[:len(codexEntry)-1] + ", api_key: own}", map[string]string{"HOME": home}, "own",
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := only(t, c.entry, c.env)
			if m.Err != nil || m.Key.Reveal() != c.key || m.Bearer != c.bearer {
				t.Errorf("%q %v %v", m.Key.Reveal(), m.Bearer, m.Err)
			}
		})
	}
	if m := only(t, claudeEntry, map[string]string{"HOME": home}); !m.Expires.Equal(time.UnixMilli(1790000000000)) {
		t.Error(m.Expires)
	}
	if m := only(t, codexEntry, map[string]string{"HOME": home}); m.Account != "acct" {
		t.Error(m.Account)
	}
}

func TestLoginsThatFail(t *testing.T) {
	home := t.TempDir()
	broken := write(t, home+"/broken.json", `{"claudeAiOauth": "sk-secret`)
	empty := write(t, home+"/empty.json", `{}`)
	large := write(t, home+"/large.json", `{"x":"`+strings.Repeat("y", maxLogin)+`"}`)
	for _, c := range []struct {
		name, entry string
		env         map[string]string
		want        string
	}{
		{"no login", claudeEntry, map[string]string{"HOME": home}, "no key for Anthropic: set ANTHROPIC_API_KEY"},
		{"only Claude Code's own", `{provider: anthropic, model: m}`, map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "t"},
			"no key for Anthropic"},
		{"a broken file", claudeEntry, map[string]string{"CLAUDE_CODE_CREDENTIALS_PATH": broken},
			"broken.json: it is no JSON of the expected shape: sign in anew"},
		{"a file without a token", claudeEntry, map[string]string{"CLAUDE_CODE_CREDENTIALS_PATH": empty},
			"it has no claudeAiOauth.accessToken: run `claude`"},
		{"a file that is too large", claudeEntry, map[string]string{"CLAUDE_CODE_CREDENTIALS_PATH": large},
			"larger than 1024 KiB"},
		{"a descriptor", claudeEntry, map[string]string{"CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR": "3"},
			"put the token into CLAUDE_CODE_OAUTH_TOKEN"},
		{"no login of Codex", codexEntry, nil,
			"read login ~/.codex/auth.json: there is no tokens.access_token: run `codex login`"},
		{"an empty one", codexEntry, map[string]string{"CODEX_AUTH_PATH": empty},
			"empty.json: there is no tokens.access_token"},
		{"a folder", codexEntry, map[string]string{"CODEX_AUTH_PATH": home}, "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := only(t, c.entry, c.env)
			if m.Err == nil || !strings.Contains(m.Err.Error(), c.want) || strings.Contains(m.Err.Error(), "secret") {
				t.Errorf("got %v\nwant %s", m.Err, c.want)
			}
		})
	}
}

func TestALoginIsNotChosenByItself(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.codex/auth.json", `{"tokens":{"access_token":"acc"}}`)
	if got, err := chosen(t, "", "", map[string]string{"HOME": home, "CLAUDE_CODE_OAUTH_TOKEN": "t"}); err == nil {
		t.Errorf("chose %s", got.Reason)
	}
	got, err := chosen(t, "", "codex/gpt-5-codex", map[string]string{"HOME": home})
	if err != nil || got.Model.Key.Reveal() != "acc" || got.Model.Wire != WireResponses {
		t.Errorf("%+v %v", got.Model, err)
	}
	got, err = chosen(t, "", "", map[string]string{"ANTHROPIC_AUTH_TOKEN": "t"})
	if err != nil || !got.Model.Bearer || !strings.Contains(got.Reason, "ANTHROPIC_AUTH_TOKEN is set") {
		t.Errorf("%+v %v", got, err)
	}
}
