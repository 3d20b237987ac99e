package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/database"
)

// agrees is a store that knows the token of a data folder. then, if not nil, is what another server does meanwhile.
type agrees struct {
	database.Store

	token string
	then  func()
}

func (a *agrees) Setting(_ context.Context, _, first string) (string, error) {
	if a.token == "" {
		a.token = first
	}
	if a.then != nil {
		a.then()
	}
	return a.token, nil
}

func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, folderToken)
	write := func() {
		if err := os.WriteFile(path, []byte("theirs\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	check := func(dir string, a *agrees) error {
		return (&engine{shared: true, dir: dir, store: a}).checkFolder(t.Context())
	}

	if err := check(dir, &agrees{token: "theirs", then: write}); err != nil {
		t.Errorf("beside one that begins at the same moment: %v", err)
	}
	if err := check(dir, &agrees{token: "theirs"}); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := check(dir, &agrees{token: "another"}); err == nil ||
		!strings.Contains(err.Error(), "give all of them the same folder") {
		t.Errorf("of another database: %v", err)
	}
	fresh, own := t.TempDir(), &agrees{}
	if err := check(fresh, own); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(fresh, folderToken)); err != nil ||
		strings.TrimSpace(string(raw)) != own.token || own.token == "" {
		t.Errorf("the first one wrote %q, agreed is %q, error %v", raw, own.token, err)
	}
}
