package sandbox

import (
	"path"
	"strings"
	"unicode/utf8"
)

// Bounds of a virtual path, in bytes.
const (
	MaxPath = 4096
	maxName = 255
)

const mountTop = "/mnt"

// CleanPath returns the absolute, clean form of a path that a model, a client or a file named: a relative one is taken
// from [Workspace]. It refuses what can never name a file of a thread: ".." in either spelling of the slash, NUL,
// invalid UTF-8, names that are too long, and the paths of another operating system. The error wraps [ErrInvalidPath]
// or [ErrOutside]; whether the path lies on a mount is for [Files] to say.
func CleanPath(p string) (string, error) {
	switch {
	case p == "":
		return "", invalid("it is empty")
	case len(p) > MaxPath:
		return "", invalid("it is longer than 4096 bytes")
	case strings.ContainsRune(p, 0):
		return "", invalid("it contains a NUL byte")
	case !utf8.ValidString(p):
		return "", invalid("it is not valid UTF-8")
	case foreign(p):
		return "", ErrOutside
	}
	for name := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		if name == ".." {
			return "", ErrOutside
		}
	}
	if !path.IsAbs(p) {
		p = Workspace + "/" + p
	}
	for name := range strings.SplitSeq(p, "/") {
		if len(name) > maxName {
			return "", invalid("a name in it is longer than 255 bytes")
		}
	}
	if p = path.Clean(p); len(p) > MaxPath {
		return "", invalid("it is longer than 4096 bytes")
	}
	return p, nil
}

// foreign reports the absolute paths of Windows: C:, C:\x, C:/x, \\server\share.
func foreign(p string) bool {
	if strings.HasPrefix(p, `\`) {
		return true
	}
	letter := len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
	return letter && (len(p) == 2 || p[2] == '\\' || p[2] == '/')
}

// below returns the path relative to folder, both clean; "." when they are the same. It compares whole names:
// /mnt/user-data-evil is not below /mnt/user-data.
func below(folder, p string) (rel string, ok bool) {
	if p == folder {
		return ".", true
	}
	return strings.CutPrefix(p, folder+"/")
}
