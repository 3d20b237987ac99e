//go:build linux

package durable_test

import (
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/durable"
	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
)

func TestReplacedFilesAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		return durable.Replace(filepath.Join(dir, "settings"), []byte("x"))
	}, ".settings-*", ".")
}
