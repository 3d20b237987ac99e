//go:build linux

package agents

import (
	"os"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
)

// TestAgentsAreSynced before they take the place of those that were there.
func TestAgentsAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		return write(root, "agent/SOUL.md", []byte("kind"))
	}, "agent/.*.tmp")
}
