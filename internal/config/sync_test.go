//go:build linux

package config_test

import (
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
)

// TestCredentialsAreSynced before they take the place of those that were there.
func TestCredentialsAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		return config.SaveCredential(filepath.Join(dir, "credentials"), "OPENAI_API_KEY", "sk-1")
	}, ".credentials-*", ".")
}
