package secrets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/secrets"
)

func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"A", "_x", "GITHUB_TOKEN", "OPENAI_API_KEY", "GIT_TOKEN", "PATHS", "DB_PATH",
		strings.Repeat("a", 64)} {
		if err := secrets.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "1A", "A-B", "A B", "A=B", "É", "A\n", "BASH_FUNC_ls%%", strings.Repeat("a", 65),
		"PATH", "path", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "IFS", "PS4", "PYTHONPATH", "PYTHONSTARTUP",
		"NODE_OPTIONS", "PERL5OPT", "GIT_SSH_COMMAND", "GIT_CONFIG_KEY_0", "http_proxy", "HOME", "GLIBC_TUNABLES",
		"GCONV_PATH", "SSLKEYLOGFILE", "SHELLOPTS", "EDITOR", "_", "JAVA_TOOL_OPTIONS", "PUDU_SECRETS_KEY",
	} {
		if err := secrets.CheckName(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestCheckTellsNoValue(t *testing.T) {
	t.Parallel()
	many := secrets.Values{}
	for i := range secrets.MaxCount + 1 {
		many[fmt.Sprintf("N%d", i)] = "hush"
	}
	large := secrets.Values{}
	for i := range 5 {
		large[fmt.Sprintf("N%d", i)] = strings.Repeat("hush", secrets.MaxValue/4)
	}
	for want, v := range map[string]secrets.Values{
		"":                            {"A": "hush", "B": "hush\nhush"},
		"33 secrets":                  many,
		"together":                    large,
		"the secret A is empty":       {"A": " \n"},
		"the secret A has 8193 bytes": {"A": "hush" + strings.Repeat("x", secrets.MaxValue-3)},
		"NUL":                         {"A": "hush\x00"},
		"no name":                     {"A-B": "hush"},
		"change how programs work":    {"LD_PRELOAD": "hush"},
	} {
		err := v.Check()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hush")) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestValuesPrintAsNames: whoever prints them, or what they stand in, shows no value.
func TestValuesPrintAsNames(t *testing.T) {
	t.Parallel()
	v := secrets.Values{"KEY": "hush-hush"}
	within := struct {
		Secrets secrets.Values
	}{v}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("x", "secrets", v, "within", within, "pointer", &v)
	}
	raw, err := json.Marshal(within)
	text := fmt.Sprint(v, within, &within) + fmt.Sprintf("%v %+v %#v %s %q %x %d %T", v, within, v, v, v, v, v, v) +
		log.String() + string(raw)
	if strings.Contains(text, "hush") || strings.Contains(text, "68757368") || !strings.Contains(text, "KEY") ||
		err == nil {
		t.Errorf("%s, %v", text, err)
	}
}
