package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseEnv(t *testing.T) {
	got, bad := parseEnv("\ufeffA=1\r\n# comment\n\nexport B = two words # comment\nC='a $B \"c\" # d' # e\nD=\"x\\ny \\\"z\\\" \\q\"\nE=\nF=a#b\nA=2\n" +
		"exported=yes\nexport\nno assignment\n1A=x\nG='open\nH=\"open\nI='a' b\n")
	want := map[string]string{"A": "2", "B": "two words", "C": `a $B "c" # d`, "D": "x\ny \"z\" \\q", "E": "",
		"F": "a#b", "exported": "yes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{11, 12, 13, 14, 15, 16}, bad); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenEnvFileWarns(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir+"/.env", "A=1\nnonsense\n")
	cfg, warnings, err := Load(LoadOptions{Cwd: dir, Env: vars(nil)})
	if err != nil || cfg.Env.Get("A") != "1" {
		t.Fatalf("%v", err)
	}
	if got := lines(warnings); got != path+":2: line left out: write NAME=VALUE, and close quotes on the same line\n" {
		t.Error(got)
	}
}

func TestSaveCredential(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config", "pudu", "credentials.env")
	for _, kv := range [][2]string{{"A", "one"}, {"B", `it's "$x" \n`}, {"A", "two"}} {
		if err := SaveCredential(path, kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "A='two'\nB=\"it's \\\"\\$x\\\" \\\\n\"\n"; string(data) != want {
		t.Errorf("file %q, want %q", data, want)
	}
	for p, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Dir(path) + "/.credentials-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSaveCredentialKeepsLinkAndOtherLines(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/real.env", "# mine\nA=1\n\nB=2\nA=3")
	if err := os.Symlink("real.env", dir+"/link.env"); err != nil {
		t.Fatal(err)
	}
	if err := SaveCredential(dir+"/link.env", "A", "new"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(dir + "/real.env")
	if err != nil || string(data) != "# mine\nA='new'\n\nB=2\n" {
		t.Errorf("%q %v", data, err)
	}
}

func TestSaveCredentialRefuses(t *testing.T) {
	path := t.TempDir() + "/c.env"
	for _, kv := range [][2]string{{"a b", "x"}, {"A", ""}, {"A", "x\ny"}, {"A", "x\x00"},
		{"A", strings.Repeat("x", 20<<10)}} {
		if err := SaveCredential(path, kv[0], kv[1]); err == nil {
			t.Errorf("%.20q was taken", kv)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a file was made")
	}
}

func TestSavedCredentialIsReadBack(t *testing.T) {
	path := t.TempDir() + "/c.env"
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-C]`).Draw(t, "name")
		value := rapid.StringMatching(`[^\x00\r\n]{1,40}`).Draw(t, "value")
		if err := SaveCredential(path, name, value); err != nil {
			t.Fatal(err)
		}
		env, warnings := Env{}.withFile(path)
		if got, _ := env.Lookup(name); got != value || len(warnings) > 0 {
			t.Fatalf("saved %q, read %q, %v", value, got, warnings)
		}
	})
}

func TestCredentialsOpenToOthersWarn(t *testing.T) {
	home := t.TempDir()
	path := write(t, home+"/pudu/credentials.env", "OPENAI_API_KEY=k\n")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, warnings, err := Load(LoadOptions{Cwd: t.TempDir(), Env: vars(map[string]string{"XDG_CONFIG_HOME": home})})
	if err != nil || lines(warnings) != path+": others may read these keys (mode 0644): run chmod 600 "+path+"\n" {
		t.Errorf("%v %v", warnings, err)
	}
	c, err := Choose(cfg, "", nil)
	if err != nil || !strings.Contains(c.Reason, "OPENAI_API_KEY from "+path) {
		t.Errorf("%q %v", c.Reason, err)
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	m := Model{Name: "m", Key: "sk-1234"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if s := fmt.Sprintf(verb, m.Key) + fmt.Sprintf(verb, m); strings.Contains(s, "sk-") ||
			strings.Contains(s, "736b2d") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
	if text, _ := m.Key.MarshalText(); string(text) != "[secret]" || Secret("").String() != "" {
		t.Errorf("encodes as %s", text)
	}
}

func FuzzParseEnv(f *testing.F) {
	for _, s := range []string{"A=1", "export A='b' # c", `A="\"`, "A=\"\xff\\\xff\"", "=", "export=1", "A='"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, bad := parseEnv(text)
		for name, value := range got {
			if !envName.MatchString(name) || strings.ContainsRune(value, 0) {
				t.Fatalf("%q=%q", name, value)
			}
			if strings.ContainsAny(value, "\r\n") || value == "" {
				continue
			}
			if again, _ := parseEnv(setLine(text, name, value)); again[name] != value {
				t.Fatalf("set %s to %q in %q: read %q", name, value, text, again[name])
			}
		}
		for _, line := range bad {
			if line < 1 || line > strings.Count(text, "\n")+1 {
				t.Fatalf("line %d of %q", line, text)
			}
		}
	})
}
