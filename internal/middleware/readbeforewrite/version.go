package readbeforewrite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/pudu-ai/pudu/sandbox"
)

// presence is whether a file is there.
type presence int

const (
	unreadable presence = iota // nothing can be said; the tool decides
	missing
	present
)

// maxHashed is the size up to which all of a file is hashed, which takes some 10 ms. Of a larger one it is the size,
// the time of the last change and both ends.
const (
	maxHashed = 16 << 20
	edge      = 1 << 20
)

// version hashes a file: SHA-256 in hexadecimal.
func (m *Middleware) version(path string) (string, presence) {
	h, err := m.files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", missing
	}
	if err != nil {
		return "", unreadable
	}
	defer h.Close()
	hash, err := hashOf(h)
	if err != nil {
		return "", unreadable
	}
	return hash, present
}

func hashOf(h *sandbox.File) (string, error) {
	info, err := h.Stat()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	r := io.LimitReader(h, 2*maxHashed) // it may grow meanwhile
	if size := info.Size(); size > maxHashed {
		fmt.Fprintf(sum, "%d %d\n", size, info.ModTime().UnixNano())
		r = io.MultiReader(io.NewSectionReader(h, 0, edge), io.NewSectionReader(h, size-edge, edge))
	}
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
