package bearer

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func watch(t *testing.T, path string) (*File, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	f, err := Watch(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return f, &log
}

func add(t *testing.T, path, called string) string {
	t.Helper()
	secret, err := Add(path, called, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// TestTokensComeAndGo while a server looks at the file, each with its name.
func TestTokensComeAndGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	f, _ := watch(t, path)
	if f.Required() {
		t.Error("without a file a token is asked for")
	}
	ci, phone := add(t, path, "ci"), add(t, path, "phone")
	if !f.Required() || ci == phone || !strings.HasPrefix(ci, prefix) || len(ci) < len(prefix)+26 {
		t.Errorf("required %v, %q, %q", f.Required(), ci, phone)
	}
	for secret, want := range map[string]string{ci: "ci", phone: "phone", "": "", ci[:len(ci)-1]: "", ci + "x": "",
		"ci": ""} {
		if got, ok := f.Name(secret); got != want || ok != (want != "") {
			t.Errorf("%q is %q, %v", secret, got, ok)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil || bytes.Contains(raw, []byte(ci)) || bytes.Contains(raw, []byte(ci[len(prefix):])) {
		t.Errorf("the file has the token itself: %s, %v", raw, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Revoke(path, "ci"); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Name(ci); ok {
		t.Error("a revoked token is good")
	}
	if got, _ := f.Name(phone); got != "phone" {
		t.Error("another token went with it")
	}
	if err := errors.Join(Revoke(path, "phone"), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Name(phone); ok || !f.Required() {
		t.Error("without the file everybody is let in")
	}
}

func TestNamesAndBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	for _, bad := range []string{"", "-x", "a b", "a\n", strings.Repeat("a", 65), "ä"} {
		if _, err := Add(path, bad, time.Now()); err == nil {
			t.Errorf("the name %q was taken", bad)
		}
	}
	add(t, path, "ci")
	if _, err := Add(path, "ci", time.Now()); err == nil || !strings.Contains(err.Error(), "revoke it first") {
		t.Errorf("twice the same name: %v", err)
	}
	if err := Revoke(path, "nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	tokens := make([]Token, MaxTokens)
	for i := range tokens {
		tokens[i].Name = fmt.Sprint("t", i)
	}
	if err := os.WriteFile(path, format(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Add(path, "more", time.Now()); err == nil {
		t.Error("there are more tokens than there may be")
	}
}

// TestALineThatCannotBeRead takes its own token along and no other, and is told.
func TestALineThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	ci, phone := add(t, path, "ci"), add(t, path, "phone")
	f, log := watch(t, path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(raw, []byte("ci "), []byte("ci x"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	_, bad := f.Name(ci)
	got, good := f.Name(phone)
	if bad || !good || got != "phone" || !strings.Contains(log.String(), "line 2") {
		t.Errorf("%v, %q, %s", bad, got, log)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("it was told %d times", n)
	}
	if _, err := Watch(path, slog.Default()); err == nil {
		t.Error("a server starts with a file that it cannot read")
	}
	if _, err := Add(path, "third", time.Now()); err == nil {
		t.Error("a file that cannot be read was written anew")
	}
}

func TestManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	f, _ := watch(t, path)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			secret, err := Add(path, fmt.Sprint("t", i), time.Now())
			if got, ok := f.Name(secret); err != nil || !ok || got != fmt.Sprint("t", i) {
				t.Errorf("%v, %q, %v", err, got, ok)
			}
		})
	}
	all.Wait()
	if tokens, err := List(path); err != nil || len(tokens) != 20 {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
}

// TestAFileThatCannotBeLookedAt refuses its tokens, and is told once, not with each request.
func TestAFileThatCannotBeLookedAt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := add(t, filepath.Join(dir, "tokens"), "me")
	f, log := watch(t, filepath.Join(dir, "tokens"))
	if err := errors.Join(os.Rename(dir, dir+"-moved"), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if name, ok := f.Name(secret); ok || !f.Required() {
			t.Errorf("it let %q in", name)
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("it was told %d times:\n%s", n, log.String())
	}
	if err := errors.Join(os.Remove(dir), os.Rename(dir+"-moved", dir)); err != nil {
		t.Fatal(err)
	}
	if name, ok := f.Name(secret); !ok || name != "me" {
		t.Errorf("when it is back it knows %q, %v", name, ok)
	}
}
