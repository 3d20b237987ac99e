package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what one request may bring, in bytes but for the count.
const (
	MaxCount = 32
	MaxValue = 8 << 10
	MaxTotal = 32 << 10
)

// Values are secrets by name. They print as their names alone, and cannot be encoded: what shall leave the process says
// so.
type Values map[string]string

var (
	_ fmt.Formatter  = Values(nil)
	_ slog.LogValuer = Values(nil)
	_ json.Marshaler = Values(nil)
)

// Names lists the names in order.
func (v Values) Names() []string { return slices.Sorted(maps.Keys(v)) }

// Environment are those of the names that there are, as NAME=value, in the order of the names.
func (v Values) Environment(names []string) []string {
	var list []string
	for _, name := range names {
		if value, ok := v[name]; ok {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// Format implements [fmt.Formatter]: whatever the verb, names alone.
func (v Values) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "secrets%q", v.Names()) }

// LogValue implements [slog.LogValuer].
func (v Values) LogValue() slog.Value { return slog.AnyValue(v.Names()) }

// MarshalJSON implements [json.Marshaler]: it fails.
func (v Values) MarshalJSON() ([]byte, error) {
	return nil, errors.New("secrets are not to be written as JSON")
}

// Check says what is wrong with the values, without any of them.
func (v Values) Check() error {
	if len(v) > MaxCount {
		return fmt.Errorf("there are %d secrets, more than %d", len(v), MaxCount)
	}
	total := 0
	for _, name := range v.Names() {
		value := v[name]
		total += len(value)
		if err := CheckName(name); err != nil {
			return err
		}
		switch {
		case strings.TrimSpace(value) == "":
			return fmt.Errorf("the secret %s is empty", name)
		case len(value) > MaxValue:
			return fmt.Errorf("the secret %s has %d bytes, more than %d", name, len(value), MaxValue)
		case strings.ContainsRune(value, 0):
			return fmt.Errorf("the secret %s has a NUL byte, which no environment can hold", name)
		}
	}
	if total > MaxTotal {
		return fmt.Errorf("the secrets have %d bytes together, more than %d", total, MaxTotal)
	}
	return nil
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// CheckName says why a secret cannot have a name: it is no name of a variable, or one by which a shell, a loader or an
// interpreter is told what to do.
func CheckName(name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("%.80q is no name for a secret: want a letter or _, and up to 63 letters, digits and _ "+
			"after it", name)
	}
	upper := strings.ToUpper(name)
	if slices.Contains(reservedNames, upper) ||
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(upper, p) }) {
		return fmt.Errorf("%s is no name for a secret: it would change how programs work", name)
	}
	return nil
}

// reservedPrefixes and reservedNames are what programs take for orders. Neither ever changes.
var (
	reservedPrefixes = []string{
		"LD_", "DYLD_", "BASH_", "LC_", "MALLOC_", "PYTHON", "GIT_CONFIG", "NPM_CONFIG_", "PIP_", "NODE_EXTRA_",
		"PUDU_", "DEERFLOW_", "DEER_FLOW_",
	}
	reservedNames = []string{
		"PATH", "HOME", "SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "TERM", "LANG",
		"LANGUAGE", "TZ", "UID", "EUID", "PPID", "_", "ENV", "BASHOPTS", "SHELLOPTS", "IFS", "CDPATH", "PS1", "PS2",
		"PS3", "PS4", "PROMPT_COMMAND", "POSIXLY_CORRECT", "GLOBIGNORE", "EXECIGNORE", "FCEDIT", "HISTFILE", "INPUTRC",
		"ZDOTDIR", "GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS",
		"RESOLV_HOST_CONF", "GETCONF_DIR", "TERMINFO", "TERMCAP", "TERMINFO_DIRS", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",
		"XDG_DATA_HOME", "XDG_DATA_DIRS", "PERL5LIB", "PERLLIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT",
		"GEM_HOME", "GEM_PATH", "NODE_OPTIONS", "NODE_PATH", "DENO_DIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS", "GOFLAGS", "GOPROXY", "RUSTC_WRAPPER", "CC",
		"CXX", "LUA_PATH", "LUA_CPATH", "LUA_INIT", "R_PROFILE", "R_LIBS", "PHPRC", "PHP_INI_SCAN_DIR", "AWKPATH",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR",
		"GIT_EXEC_PATH", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_WORK_TREE",
		"SSH_ASKPASS", "SSH_AUTH_SOCK", "SUDO_ASKPASS", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN",
		"LESSCLOSE", "LESSKEY", "TAR_OPTIONS", "MAKEFLAGS", "MAKEFILES", "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY",
		"ALL_PROXY", "NO_PROXY", "CURL_HOME", "WGETRC", "NETRC", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
		"REQUESTS_CA_BUNDLE", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SSLKEYLOGFILE", "FONTCONFIG_FILE",
		"FONTCONFIG_PATH", "MPLCONFIGDIR", "MATPLOTLIBRC",
	}
)
