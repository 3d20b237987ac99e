//go:build linux

package fsynctest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCheck(t *testing.T) {
	Check(t, func(dir string) error {
		f, err := os.CreateTemp(dir, "temp-")
		if err != nil {
			return err
		}
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), d.Sync(), os.WriteFile(filepath.Join(dir, "unsynced"), []byte("x"), 0o600),
			f.Close(), d.Close())
	}, "temp-*", ".")
}
