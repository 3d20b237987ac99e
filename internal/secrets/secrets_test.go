package secrets_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/secrets"
)

const webhook = "webhook"

var (
	ada = access.FromRow("ada")
	bob = access.FromRow("bob")
)

func open(t testing.TB, dir, value string) *secrets.Secrets {
	t.Helper()
	s, err := secrets.Open(dir, value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func seal(t testing.TB, s *secrets.Secrets, plain string) string {
	t.Helper()
	sealed, err := s.For(ada).Seal(webhook, plain)
	if err != nil || !secrets.Sealed(sealed) || len(plain) > 4 && strings.Contains(sealed, plain) {
		t.Fatal(sealed, err)
	}
	return sealed
}

func key(c string) string { return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(c, 32))) }

// TestOnlyItsUserOpensIt, for its purpose, in this process or another; two seals of one text differ.
func TestOnlyItsUserOpensIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, "")
	const plain = "https://example.com/hook?token=hush"
	sealed := seal(t, s, plain)
	if again := seal(t, s, plain); again == sealed {
		t.Error("one text is sealed as before")
	}
	for _, who := range []*secrets.Secrets{s, open(t, dir, "")} {
		if got, err := who.For(ada).Open(webhook, sealed); got != plain || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	for name, try := range map[string]func() (string, error){
		"of another user":   func() (string, error) { return s.For(bob).Open(webhook, sealed) },
		"another purpose":   func() (string, error) { return s.For(ada).Open("login", sealed) },
		"cut":               func() (string, error) { return s.For(ada).Open(webhook, sealed[:len(sealed)-2]) },
		"cut to its prefix": func() (string, error) { return s.For(ada).Open(webhook, sealed[:9]) },
		"not sealed":        func() (string, error) { return s.For(ada).Open(webhook, plain) },
	} {
		if got, err := try(); got != "" || !errors.Is(err, secrets.ErrBroken) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := s.For(access.User{}).Seal(webhook, plain); !errors.Is(err, access.ErrNoUser) {
		t.Errorf("for nobody: %v", err)
	}
	if _, err := s.For(ada).Seal(webhook, strings.Repeat("x", 64<<10+1)); err == nil {
		t.Error("any length is sealed")
	}
}

// TestKeys that are lost, others, cut or not to be read are said.
func TestKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, secrets.FileName)
	sealed := seal(t, open(t, dir, ""), "x")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v", left, err)
	}
	if _, err := open(t, dir, key("a")).For(ada).Open(webhook, sealed); !errors.Is(err, secrets.ErrOtherKey) {
		t.Errorf("by another key: %v", err)
	}
	byEnv := seal(t, open(t, dir, key("a")), "y")
	if got, err := open(t, t.TempDir(), " "+key("a")+"\n").For(ada).Open(webhook, byEnv); got != "y" || err != nil {
		t.Errorf("by the environment: %q, %v", got, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"cut": string(whole[:len(whole)/2]), "empty": "", "other": "hello"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := secrets.Open(dir, "")
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir, "").For(ada).Open(webhook, sealed); !errors.Is(err, secrets.ErrNoKey) {
		t.Errorf("lost: %v", err)
	}
	if _, err := secrets.Open(dir, key("a")[3:]); err == nil || !strings.Contains(err.Error(), secrets.Variable) {
		t.Errorf("cut in the environment: %v", err)
	}
}

// TestOneKeyOfMany: processes that make the key at the same moment have the same one.
func TestOneKeyOfMany(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	sealed := make([]string, 8)
	for i := range sealed {
		s := open(t, dir, "")
		all.Go(func() { sealed[i], _ = s.For(ada).Seal(webhook, "x") })
	}
	all.Wait()
	for _, text := range sealed {
		if got, err := open(t, dir, "").For(ada).Open(webhook, text); got != "x" || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// FuzzOpen: whatever is in a row opens to what was sealed, or is refused.
func FuzzOpen(f *testing.F) {
	s := open(f, f.TempDir(), key("k"))
	sealed := seal(f, s, "plain")
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-1])
	f.Add("sealed:1:")
	f.Add("sealed:2:" + sealed[9:])
	f.Add("https://example.com")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := s.For(ada).Open(webhook, text)
		if text == sealed && err != nil || err == nil && got != "plain" { // other processes seal with other nonces
			t.Errorf("%q opens to %q, %v", text, got, err)
		}
	})
}
