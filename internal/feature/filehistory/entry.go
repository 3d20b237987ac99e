package filehistory

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// Kind is what has a name.
type Kind byte

// The kinds. The zero Kind is nothing.
const (
	File    Kind = 'f'
	Dir     Kind = 'd'
	Link    Kind = 'l'
	Special Kind = 'o' // a FIFO, a socket, a device: it is named, never opened
)

// Entry is what has a path, as a look at the files found it. The zero Entry is nothing.
type Entry struct {
	// Path is below the folder of all of a thread's files: "workspace/a.txt". It may be any bytes but NUL.
	Path string
	Kind Kind
	Mode fs.FileMode // permissions, with the sticky, setuid and setgid bits
	Size int64
	// Sum is the SHA-256 of a file's content; empty if that was not read.
	Sum string
	// Kept says that there is a copy of the content.
	Kept bool
	// Target is where a link points.
	Target string

	modified, changed int64 // nanoseconds
	inode             uint64
}

// Virtual is the path as the agent and clients know it.
func (e Entry) Virtual() string { return virtual(e.Path) }

func virtual(path string) string {
	return sandbox.UserData + "/" + strings.ToValidUTF8(path, "\uFFFD")
}

// Modified is when the content was last changed.
func (e Entry) Modified() time.Time { return time.Unix(0, e.modified) }

// same reports whether two entries are the same to a person: name, kind, mode, content.
func same(a, b Entry) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Link:
		return a.Target == b.Target
	case File:
		return a.Mode == b.Mode && alike(a, b)
	}
	return a.Mode == b.Mode || a.Kind != Dir
}

// alike reports whether two files have the same content, as far as that was read.
func alike(a, b Entry) bool {
	if a.Sum != "" && b.Sum != "" {
		return a.Sum == b.Sum
	}
	return a.Sum == b.Sum && a.Size == b.Size && a.modified == b.modified
}

// untouched reports whether nothing was done to a file since it was looked at, as its inode tells.
func untouched(a, b Entry) bool {
	return a.Kind == b.Kind && a.Size == b.Size && a.Mode == b.Mode && a.inode == b.inode && a.modified == b.modified &&
		a.changed == b.changed
}

const bits = fs.ModePerm | fs.ModeSticky | fs.ModeSetuid | fs.ModeSetgid

// MarshalText implements [encoding.TextMarshaler]: one line, whatever bytes the names have.
func (e Entry) MarshalText() ([]byte, error) { return e.append(nil), nil }

func (e Entry) append(b []byte) []byte {
	if e.Kind == 0 {
		return append(b, '-')
	}
	b = append(b, byte(e.Kind))
	for _, n := range []uint64{uint64(e.Mode), uint64(e.Size), uint64(e.modified), uint64(e.changed), e.inode} {
		b = strconv.AppendUint(append(b, ' '), n, 36)
	}
	b = append(b, ' ')
	switch {
	case e.Kept:
		b = append(b, '+')
	default:
		b = append(b, '-')
	}
	b = append(append(b, e.Sum...), ' ')
	b = strconv.AppendQuote(b, e.Path)
	return strconv.AppendQuote(append(b, ' '), e.Target)
}

var errEntry = errors.New("this is no line of a history")

// UnmarshalText implements [encoding.TextUnmarshaler].
func (e *Entry) UnmarshalText(b []byte) (err error) {
	*e, err = parseEntry(string(b))
	return err
}

func parseEntry(s string) (e Entry, err error) {
	if s == "-" {
		return e, nil
	}
	var n [5]uint64
	fields := strings.SplitN(s, " ", 8)
	if len(fields) != 8 || len(fields[0]) != 1 || !strings.ContainsAny(fields[0], "fdlo") {
		return e, errEntry
	}
	for i := range n {
		if n[i], err = strconv.ParseUint(fields[i+1], 36, 64); err != nil {
			return e, errEntry
		}
	}
	kept, sum := fields[6] != "" && fields[6][0] == '+', strings.TrimLeft(fields[6], "+-")
	path, err := strconv.QuotedPrefix(fields[7])
	if err != nil || sum != "" && !isSum(sum) {
		return e, errEntry
	}
	e = Entry{
		Kind: Kind(fields[0][0]), Mode: fs.FileMode(n[0]) & bits, Size: int64(n[1]), modified: int64(n[2]),
		changed: int64(n[3]), inode: n[4], Kept: kept, Sum: sum,
	}
	e.Path, err = strconv.Unquote(path)
	if err == nil {
		e.Target, err = strconv.Unquote(strings.TrimPrefix(fields[7][len(path):], " "))
	}
	if err != nil || !inside(e.Path) {
		return Entry{}, fmt.Errorf("%w: %.80q", errEntry, s)
	}
	return e, nil
}

func isSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// inside reports whether a path is that of something in one of a thread's folders.
func inside(path string) bool {
	folder, rest, ok := strings.Cut(path, "/")
	return ok && rest != "" && isFolder(folder) && fs.ValidPath(strings.ToValidUTF8(path, "x")) &&
		!strings.ContainsRune(path, 0)
}

func isFolder(name string) bool { return name == "workspace" || name == "uploads" || name == "outputs" }
