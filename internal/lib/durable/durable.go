// Package durable writes small files so that a crash or a power cut leaves the old content or the new one. It is for
// the files that people's settings are in: credentials, tokens. What an agent writes goes through package sandbox.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace gives the file at path a new content, which only its owner can read. When it returns without an error the
// content is on the disk, under that name. The folder must exist.
func Replace(path string, content []byte) error {
	if err := replace(path, content); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

func replace(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Sync makes a file, or the names in a folder, durable.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
