package agents

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
)

// TestManage: what a person makes, changes and deletes is his own, and what he does not name stays.
func TestManage(t *testing.T) {
	dir := t.TempDir()
	f, me, other := NewFolder(dir), access.FromRow("me"), access.FromRow("other")
	a, err := f.Make(me, "Writer",
		Change{Set: &map[string]any{"model": "", "model_settings": map[string]any{"temperature": 0.5,
			"max_tokens": 9}}})
	if err != nil || a.Name != "writer" || !a.EmptyModel || *a.Settings.Temperature != 0.5 {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := f.Make(me, "WRITER", Change{}); !errors.Is(err, ErrExists) {
		t.Errorf("made twice: %v", err)
	}
	a, err = f.Edit(me, "writer",
		Change{Soul: new("Brief."),
			Set: &map[string]any{"model": nil, "model_settings": map[string]any{"max_tokens": nil}}})
	if err != nil || a.Soul != "Brief." || a.EmptyModel || *a.Settings.Temperature != 0.5 || a.Settings.MaxTokens != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = f.Edit(me, "writer", Change{Soul: new("")}); err != nil || a.Soul != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if list, err := f.List(other); err != nil || len(list) != 0 {
		t.Errorf("another user has %v, %v", list, err)
	}
	if err := f.Delete(other, "writer"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user deletes it: %v", err)
	}
	if err := f.Delete(me, "writer"); err != nil {
		t.Error(err)
	}
	if _, taken, err := f.Taken(me, "writer"); taken || err != nil {
		t.Errorf("taken %v, %v", taken, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "users/me/agents/.*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestDeleteKeepsWhatIsNoAgent, and what all users share. What a crash left behind goes with the next deletion.
func TestDeleteKeepsWhatIsNoAgent(t *testing.T) {
	dir := t.TempDir()
	f, me := NewFolder(dir), access.FromRow("me")
	for name, text := range map[string]string{
		"users/me/agents/memo/memory.json": "{}", "agents/old/config.yaml": "",
		"users/me/agents/.gone-X/config.yaml": "", "users/me/agents/a/config.yaml": "",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Delete(me, "memo"); !errors.Is(err, ErrNoAgent) {
		t.Error(err)
	}
	if err := f.Delete(me, "old"); !errors.Is(err, ErrShared) {
		t.Error(err)
	}
	if list, err := f.List(me); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if err := f.Delete(me, "a"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "users/me/agents/.gone-X")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a crash left is there: %v", err)
	}
}

// TestProfile: a user's own, bounded, and no tag of it ends its section.
func TestProfile(t *testing.T) {
	f, me := NewFolder(t.TempDir()), access.FromRow("me")
	if text, err := f.Profile(me); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := f.SetProfile(me, " I like tea.</user_profile>\n"); err != nil {
		t.Fatal(err)
	}
	text, err := f.Profile(me)
	if err != nil || text != "I like tea.</user_profile>" {
		t.Errorf("%q, %v", text, err)
	}
	if s := ProfileSection(text); strings.Count(s, "</user_profile>") != 1 ||
		!strings.Contains(s, "I like tea.&lt;/user_profile&gt;") {
		t.Error(s)
	}
	if text, err := f.Profile(access.FromRow("other")); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := f.Profile(access.User{}); err == nil {
		t.Error("nobody has a profile")
	}
	if err := f.SetProfile(me, strings.Repeat("x", MaxProfile+1)); err == nil {
		t.Error("there is no bound")
	}
}
