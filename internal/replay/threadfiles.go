package replay

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/sandbox"
)

// maxEntries bounds the files that are looked at.
const maxEntries = 10_000

// files notes the files that were there when the run began, as far as that can be seen now: the uploads that have not
// changed since the run's end, and the other files that have not changed since its start.
func (t *tape) files(ctx context.Context) error {
	if t.src.Files == nil {
		return nil
	}
	left := int64(maxFiles)
	err := t.src.Files.Walk(ctx, sandbox.UserData, maxEntries, func(p string, e fs.DirEntry) error {
		if !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		since := t.run.CreatedAt
		if strings.HasPrefix(p, sandbox.Uploads+"/") {
			since = t.run.UpdatedAt
		}
		if info.ModTime().After(since) {
			return nil
		}
		f, err := read(t.src.Files, p, info.Size(), left)
		if err != nil {
			return err
		}
		left -= int64(len(f.Text) + len(f.Base64))
		t.rec.Files = append(t.rec.Files, f)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the thread's files: %w", err)
	}
	return nil
}

// read takes a file in if it is small, and else its hash.
func read(files *sandbox.Files, p string, size, left int64) (File, error) {
	if size > min(maxFile, left) {
		h, err := files.Open(p)
		if err != nil {
			return File{}, err
		}
		defer h.Close()
		sum := sha256.New()
		n, err := io.Copy(sum, h)
		return File{Path: p, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
	}
	raw, err := files.ReadFile(p, maxFile)
	if err != nil {
		return File{}, err
	}
	if text := string(raw); utf8.Valid(raw) && !strings.ContainsAny(text, "\x00\r") {
		return File{Path: p, Text: Str(text)}, nil
	}
	return File{Path: p, Base64: wrapped(base64.StdEncoding.EncodeToString(raw))}, nil
}

// wrapped cuts a long line, so that a change of the file is a change of some lines.
func wrapped(s string) Str {
	const width = 100
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return Str(b.String() + s)
}

// put writes the files of the recording. Missing ones are looked for in the folder beside, under their path below
// /mnt/user-data.
func (r *Recording) put(files *sandbox.Files, beside string) error {
	for _, f := range r.Files {
		raw, err := f.content()
		if err == nil && f.missing() {
			raw, err = f.fetch(beside)
		}
		if err != nil {
			return err
		}
		if err := files.WriteFile(f.Path, raw, false); err != nil {
			return err
		}
	}
	return nil
}

func (f File) fetch(beside string) ([]byte, error) {
	name := filepath.Join(beside, filepath.FromSlash(strings.TrimPrefix(f.Path, sandbox.UserData+"/")))
	raw, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s (%d bytes, sha256 %s) was too large for the recording; put a copy at %s", f.Path,
			f.Bytes, f.SHA256, name)
	case err != nil:
		return nil, err
	case digest(raw) != f.SHA256:
		return nil, fmt.Errorf("%s is not the recorded %s: its sha256 is %s, not %s", name, f.Path, digest(raw),
			f.SHA256)
	}
	return raw, nil
}
