package threadfiles

import (
	"archive/zip"
	"cmp"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/sandbox"
)

// Bounds of an archive.
const (
	MaxMembers = 10_000
	MaxBytes   = 8 << 30
	// MaxPaths are the files and folders that may be named for one.
	MaxPaths = 1000
)

// Errors of what is too much for an archive.
var (
	ErrTooMany  = fmt.Errorf("more than %d files and folders; choose some of them", MaxMembers)
	ErrTooLarge = fmt.Errorf("more than %s; choose some of the files", units.Bytes(MaxBytes))
)

// Archive are the files and folders that were chosen for a ZIP.
type Archive struct {
	files   *sandbox.Files
	root    string
	members []member
	chosen  map[string]bool // paths
	bytes   int64
	// left says what is not in it, and why.
	left []string
}

type member struct {
	path string
	info fs.FileInfo // of what a link leads to
}

// Choose looks up what is at the paths in the root, and below the folders among them; without any it takes everything.
// What is no regular file is left out, which the archive says: links that lead out of their folder, or to a folder,
// pipes, sockets.
func Choose(ctx context.Context, files *sandbox.Files, root string, named []string) (*Archive, error) {
	a := &Archive{files: files, root: root, chosen: make(map[string]bool)}
	if len(named) == 0 {
		named = []string{root}
	}
	for _, name := range named {
		p, err := Below(root, name)
		if err == nil {
			err = a.choose(ctx, p)
		}
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *Archive) choose(ctx context.Context, p string) error {
	info, err := a.files.Lstat(p)
	if err != nil {
		return err
	}
	if err := a.add(p, info); err != nil || !info.IsDir() {
		return err
	}
	err = a.files.Walk(ctx, p, MaxMembers, func(p string, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		return a.add(p, info)
	})
	if errors.Is(err, sandbox.ErrTooMany) {
		return ErrTooMany
	}
	return err
}

func (a *Archive) add(p string, info fs.FileInfo) error {
	if a.chosen[p] || p == a.root {
		return nil
	}
	a.chosen[p] = true
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := a.files.Stat(p)
		if err != nil || !to.Mode().IsRegular() {
			a.leave(p, "it is a link that leads to no file of its folder")
			return nil //nolint:nilerr // the archive says so
		}
		info = to
	}
	switch {
	case !info.IsDir() && !info.Mode().IsRegular():
		a.leave(p, "it is no regular file")
		return nil
	case len(a.members) == MaxMembers:
		return ErrTooMany
	case !info.IsDir():
		a.bytes += info.Size()
	}
	if a.bytes > MaxBytes {
		return ErrTooLarge
	}
	a.members = append(a.members, member{p, info})
	return nil
}

// maxLeft bounds what an archive says of what it has not.
const maxLeft = 1000

func (a *Archive) leave(p, why string) {
	if len(a.left) < maxLeft {
		a.left = append(a.left, strings.TrimPrefix(p, a.root+"/")+": "+why)
	}
}

// Write writes the ZIP, reading one file after the other. What was written before an error is no ZIP. A file has at
// most the size that it was chosen with; one that has gone since, or may not be read, is named in LEFT-OUT.txt.
func (a *Archive) Write(ctx context.Context, w io.Writer) error {
	z := zip.NewWriter(w)
	// one for all files: it takes more time to make than to pack a small file
	packer, err := flate.NewWriter(w, flate.BestSpeed)
	if err != nil {
		return err
	}
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		packer.Reset(w)
		return packer, nil
	})
	taken := make(map[string]int)
	for _, m := range a.members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.write(z, taken, m); err != nil {
			return fmt.Errorf("write %s into the ZIP: %w", m.path, err)
		}
	}
	if len(a.left) > 0 {
		text, err := z.CreateHeader(header(unique(taken, "LEFT-OUT.txt"), time.Time{}))
		if err == nil {
			_, err = fmt.Fprintf(text, "Not in this archive:\n\n%s\n", strings.Join(a.left, "\n"))
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

func (a *Archive) write(z *zip.Writer, taken map[string]int, m member) error {
	name := SafeName(strings.TrimPrefix(m.path, a.root+"/"))
	if m.info.IsDir() {
		_, err := z.CreateHeader(header(name+"/", m.info.ModTime()))
		return err
	}
	h, err := a.files.Open(m.path)
	if err != nil {
		a.leave(m.path, "it cannot be read")
		return nil
	}
	defer h.Close()
	head := header(unique(taken, name), m.info.ModTime())
	const executable = 0o111
	if m.info.Mode()&executable != 0 {
		head.SetMode(0o755)
	}
	into, err := z.CreateHeader(head)
	if err == nil {
		_, err = io.Copy(into, io.LimitReader(h, m.info.Size()))
	}
	return err
}

func header(name string, modified time.Time) *zip.FileHeader {
	h := &zip.FileHeader{Name: name, Modified: modified, Method: zip.Deflate}
	switch {
	case strings.HasSuffix(name, "/"):
		h.Method = zip.Store
		h.SetMode(fs.ModeDir | 0o755)
		return h
	case slices.Contains([]string{
		".png", ".jpg", ".jpeg", ".gif", ".webp", ".zip", ".gz", ".7z", ".mp3", ".mp4", ".webm", ".docx", ".xlsx",
		".pptx",
	}, strings.ToLower(path.Ext(name))): // they are packed already
		h.Method = zip.Store
	}
	h.SetMode(0o644)
	return h
}

// SafeName is the name of a file in an archive: one that each system can unpack, below the folder that it unpacks to.
// What some system reads as something else is "_" in it.
func SafeName(name string) string {
	var out []string
	for part := range strings.SplitSeq(strings.ToValidUTF8(name, "_"), "/") {
		part = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || strings.ContainsRune(`\:*?"<>|`, r) {
				return '_'
			}
			return r
		}, part)
		if tail := strings.TrimRight(part, ". "); tail != part { // Windows drops them
			part = tail + strings.Repeat("_", len(part)-len(tail))
		}
		if part != "" {
			out = append(out, part)
		}
	}
	return cmp.Or(strings.Join(out, "/"), "_")
}

// FileName is the name of a file after a title, without an ending: one that each system can have. fallback is for a
// title that makes none.
func FileName(title, fallback string) string {
	const most, mostBytes = 100, 200
	name := strings.ReplaceAll(SafeName(strings.ToValidUTF8(title, "")), "/", "_")
	if name = strings.TrimPrefix(name, sandbox.TempPrefix); name == "_" || name == "" {
		name = fallback
	}
	name = excerpt.First(name, most)
	return strings.ToValidUTF8(name[:min(len(name), mostBytes)], "")
}

// unique is the name, or one with a number if it is taken. taken counts how often each was asked for.
func unique(taken map[string]int, name string) string {
	ext := path.Ext(name)
	for try := name; ; try = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), taken[name], ext) {
		if taken[try]++; taken[try] == 1 {
			return try
		}
		if try != name {
			taken[name]++
		}
	}
}
