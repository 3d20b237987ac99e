//go:build linux

package bearer_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access/bearer"
	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
)

// TestTokensAreSynced before they take the place of those that were there.
func TestTokensAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		_, err := bearer.Add(filepath.Join(dir, "tokens"), "me", time.Now())
		return err
	}, ".tokens-*", ".")
}
