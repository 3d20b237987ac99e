package skills

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// partSize is how much of an archive a row has, in bytes.
const partSize = 1 << 20

// packed is a skill as it is kept: an archive whose members are the files, and what is known of it.
type packed struct {
	head   Head
	text   string
	digest string // of the files; two skills with the same files have the same
	size   int64
	parts  func(each func(n int, part []byte) error) error
	found  []Finding
	// reviewed are the files that a model looks at, and skipped says that there were more of them than it can.
	reviewed []reviewed
	skipped  bool
}

// reviewed is a file that a model looks at before the skill is installed.
type reviewed struct {
	name string
	text string
	code bool
}

// Bounds of what a model looks at.
const (
	maxReviewed = 24
	maxReview   = 128 << 10 // bytes of a file
)

// writer writes the archive of a skill.
type writer struct {
	*packed

	zip   *zip.Writer
	sum   interface{ io.Writer }
	total func() []byte
}

func newWriter(to io.Writer) *writer {
	sum := sha256.New()
	return &writer{packed: &packed{}, zip: zip.NewWriter(to), sum: sum, total: func() []byte { return sum.Sum(nil) }}
}

// add scans a file and writes it. Files come in the order of their names.
func (w *writer) add(name string, mode fs.FileMode, content []byte) error {
	head := &zip.FileHeader{Name: name, Method: zip.Deflate}
	head.SetMode(0o644 | mode&0o111)
	to, err := w.zip.CreateHeader(head)
	if err == nil {
		_, err = to.Write(content)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	fmt.Fprintf(w.sum, "%s\x00%o\x00%x\n", name, mode&0o111, sha256.Sum256(content))
	return nil
}

// look scans a file.
func (p *packed) look(name string, content []byte, scan bool) error {
	k := kindOfFile(name, content)
	text := k == prose && (name == FileName || strings.HasPrefix(name, "references/") ||
		strings.HasPrefix(name, "templates/")) ||
		k != data && k != prose || strings.HasPrefix(name, "scripts/")
	if text && !utf8.Valid(content) {
		return &ReviewError{fmt.Sprintf("Security scan failed for skill '%s': %s/%s must be valid UTF-8", p.head.Name,
			p.head.Name, name)}
	}
	if scan {
		const most = 500 // findings are enough
		found := scanFile(name, content)
		p.found = append(p.found, found[:min(len(found), max(0, most-len(p.found)))]...)
	}
	if text {
		if len(p.reviewed) >= maxReviewed || len(content) > maxReview {
			p.skipped = true
			return nil
		}
		p.reviewed = append(p.reviewed, reviewed{name, string(content), name != FileName && k != prose})
	}
	return nil
}

// pack checks an archive that somebody gives, scans what is in it, and makes the one that is kept, in a file that close
// removes.
func pack(r io.ReaderAt, size int64, scan bool, known func(Head) error) (p *packed, closed func(), err error) {
	a, err := openArchive(r, size)
	if err != nil {
		return nil, nil, err
	}
	if a.missing {
		return nil, nil, invalidf("SKILL.md not found")
	}
	head, err := ParseHead(a.text)
	if err == nil && known != nil {
		err = known(head)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := os.CreateTemp("", "pudu-skill-")
	if err != nil {
		return nil, nil, fmt.Errorf("pack skill %s: %w", head.Name, err)
	}
	closed = func() {
		file.Close()
		os.Remove(file.Name())
	}
	w := newWriter(file)
	w.head, w.text, w.found = head, a.text, a.found
	if err := w.all(a, scan); err != nil {
		closed()
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		closed()
		return nil, nil, err
	}
	w.size = info.Size()
	w.parts = func(each func(int, []byte) error) error {
		return split(io.NewSectionReader(file, 0, info.Size()), each)
	}
	w.digest = hex.EncodeToString(w.total())
	return w.packed, closed, nil
}

// all writes every member.
func (w *writer) all(a *archive, scan bool) error {
	for _, m := range a.members {
		content, err := readMember(m.File, maxFile+1)
		if err == nil {
			err = w.look(m.name, content, scan)
		}
		if err == nil {
			err = w.add(m.name, m.Mode(), content)
		}
		if err != nil {
			return err
		}
	}
	if err := w.zip.Close(); err != nil {
		return fmt.Errorf("pack skill %s: %w", w.head.Name, err)
	}
	return refusal(w.head.Name, w.found)
}

// split cuts what a reader has into parts.
func split(r io.Reader, each func(n int, part []byte) error) error {
	for n := 0; ; n++ {
		buf := make([]byte, partSize)
		read, err := io.ReadFull(r, buf)
		if read > 0 {
			if err := each(n, buf[:read]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// file is one of a skill's.
type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// repack makes the archive of files that are in memory, and scans those that changed.
func repack(h Head, list []file, changed func(name string) bool) (*packed, error) {
	slices.SortFunc(list, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	w := newWriter(&b)
	w.head = h
	for _, f := range list {
		if f.name == FileName {
			w.text = string(f.content)
		}
		if changed(f.name) {
			if err := w.look(f.name, f.content, true); err != nil {
				return nil, err
			}
		}
		if err := w.add(f.name, f.mode, f.content); err != nil {
			return nil, err
		}
	}
	if err := w.zip.Close(); err != nil {
		return nil, err
	}
	w.size, w.digest = int64(b.Len()), hex.EncodeToString(w.total())
	w.parts = func(each func(int, []byte) error) error { return split(bytes.NewReader(b.Bytes()), each) }
	return w.packed, nil
}

// unpack reads the files of an archive that is kept.
func unpack(raw []byte) (list []file, err error) {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("read the archive of a skill: %w", err)
	}
	for _, f := range z.File {
		if !fit(f.Name) || !f.Mode().IsRegular() {
			return nil, fmt.Errorf("read the archive of a skill: %.80q is no name of a file in it", f.Name)
		}
		content, err := readMember(f, maxFile+1)
		if err != nil {
			return nil, fmt.Errorf("read %s of a skill: %w", f.Name, err)
		}
		list = append(list, file{f.Name, f.Mode().Perm(), content})
	}
	return list, nil
}
