package toolbox

import (
	"archive/zip"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of a wheel.
const (
	maxEntries  = 20_000
	maxUnpacked = 512 << 20 // bytes of all files
	maxRecord   = 8 << 20   // bytes of RECORD
	maxDepth    = 30
)

// hashes are those that a RECORD may name.
var hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

// unpack puts the modules of a wheel into a folder, which may have those of others. Each file must be as the wheel's
// own RECORD says, and RECORD must say it of each. Programs, headers and data that a wheel would put elsewhere are left
// out. It returns the bytes that were written.
func unpack(r io.ReaderAt, size int64, into *os.Root) (int64, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrBad, err)
	}
	files, err := entriesOf(z)
	if err != nil {
		return 0, err
	}
	record, err := readRecord(files)
	if err != nil {
		return 0, err
	}
	u := unpacker{into: into, left: maxUnpacked, made: map[string]bool{".": true}}
	for _, f := range z.File {
		if files[f.Name] == nil || isRecord(f.Name) {
			continue
		}
		if err := u.file(f, record[f.Name]); err != nil {
			return 0, fmt.Errorf("%q: %w", f.Name, err)
		}
	}
	return maxUnpacked - u.left, nil
}

// entriesOf are the files of an archive, by name. What is no plain file with a plain name is refused.
func entriesOf(z *zip.Reader) (map[string]*zip.File, error) {
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%d entries are more than %d: %w", len(z.File), maxEntries, ErrBad)
	}
	files := make(map[string]*zip.File, len(z.File))
	total := uint64(0)
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, "/")
		if err := checkName(name); err != nil {
			return nil, err
		}
		if f.Mode().IsDir() || name != f.Name {
			if f.UncompressedSize64 > 0 {
				return nil, fmt.Errorf("the folder %q has content: %w", f.Name, ErrBad)
			}
			continue
		}
		if !f.Mode().IsRegular() || f.Flags&1 != 0 {
			return nil, fmt.Errorf("%q is not a plain file: %w", f.Name, ErrBad)
		}
		if files[name] != nil {
			return nil, fmt.Errorf("%q is in it twice: %w", f.Name, ErrBad)
		}
		files[name] = f
		if total += f.UncompressedSize64; f.UncompressedSize64 > maxUnpacked || total > maxUnpacked {
			return nil, fmt.Errorf("it unpacks to more than %d bytes: %w", maxUnpacked, ErrBad)
		}
	}
	return files, nil
}

// checkName refuses a name that is no path below a folder, on any system.
func checkName(name string) error {
	if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || strings.ContainsAny(name, "\\:\x00") ||
		!utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
		strings.Count(name, "/") > maxDepth || len(name) > 1000 {
		return fmt.Errorf("%.200q is not a name for a file: %w", name, ErrBad)
	}
	return nil
}

// isRecord reports whether a file is the RECORD of a wheel, or a signature of it, which no RECORD can list.
func isRecord(name string) bool {
	dir, file := path.Split(name)
	return strings.HasSuffix(dir, ".dist-info/") && strings.Count(dir, "/") == 1 &&
		(file == "RECORD" || file == "RECORD.jws" || file == "RECORD.p7s")
}

// fact is what a RECORD says about a file.
type fact struct {
	kind string
	sum  []byte
	size int64 // -1 if it does not say
}

// readRecord finds and reads RECORD, and compares its names with those of the archive.
func readRecord(files map[string]*zip.File) (map[string]fact, error) {
	var at *zip.File
	for name, f := range files {
		if isRecord(name) && path.Base(name) == "RECORD" {
			if at != nil {
				return nil, fmt.Errorf("it has two RECORDs: %w", ErrBad)
			}
			at = f
		}
	}
	if at == nil || at.UncompressedSize64 > maxRecord {
		return nil, fmt.Errorf("it has no RECORD, or one of more than %d bytes: %w", maxRecord, ErrBad)
	}
	r, err := at.Open()
	if err != nil {
		return nil, fmt.Errorf("RECORD: %w: %w", ErrBad, err)
	}
	defer r.Close()
	facts, err := parseRecord(io.LimitReader(r, maxRecord))
	if err != nil {
		return nil, fmt.Errorf("RECORD: %w", err)
	}
	for name := range files {
		if _, ok := facts[name]; !ok && !isRecord(name) {
			return nil, fmt.Errorf("RECORD does not list %q: %w", name, ErrBad)
		}
	}
	for name := range facts {
		if files[name] == nil {
			return nil, fmt.Errorf("RECORD lists %q, which is not there: %w", name, ErrBad)
		}
	}
	return facts, nil
}

// parseRecord reads lines of path, hash and size. RECORD itself has no hash.
func parseRecord(r io.Reader) (map[string]fact, error) {
	facts := map[string]fact{}
	in := csv.NewReader(r)
	in.FieldsPerRecord = 3
	for {
		line, err := in.Read()
		if errors.Is(err, io.EOF) {
			return facts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBad, err)
		}
		name := line[0]
		if _, twice := facts[name]; twice || len(facts) >= maxEntries {
			return nil, fmt.Errorf("%.200q is listed twice, or too much is: %w", name, ErrBad)
		}
		f := fact{size: -1}
		if !isRecord(name) {
			kind, sum, _ := strings.Cut(line[1], "=")
			f.kind = kind
			if f.sum, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(sum, "=")); err != nil ||
				hashes[kind] == nil {
				return nil, fmt.Errorf("%.200q has the hash %.100q: %w", name, line[1], ErrBad)
			}
			if line[2] != "" {
				if f.size, err = strconv.ParseInt(line[2], 10, 64); err != nil || f.size < 0 {
					return nil, fmt.Errorf("%.200q has the size %.30q: %w", name, line[2], ErrBad)
				}
			}
		}
		facts[name] = f
	}
}

// unpacker writes files below a folder.
type unpacker struct {
	into *os.Root
	left int64
	made map[string]bool // folders that are there
}

// place is where a file of a wheel goes below the folder of modules; empty means nowhere.
func place(name string) string {
	dir, rest, below := strings.Cut(name, "/")
	if !below || !strings.HasSuffix(dir, ".data") {
		return name
	}
	kind, rest, _ := strings.Cut(rest, "/")
	if kind == "purelib" || kind == "platlib" {
		return rest
	}
	return ""
}

// file checks a file while it writes it. One that another wheel has brought is not overwritten.
func (u *unpacker) file(f *zip.File, want fact) (err error) {
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBad, err)
	}
	defer r.Close()
	out := io.Discard
	if name := place(f.Name); name != "" {
		if err := u.folders(path.Dir(name)); err != nil {
			return err
		}
		to, err := u.into.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Close()) }()
		if err := to.Chmod(0o644); err != nil { // whatever the umask is: the sandbox of root runs as another user
			return err
		}
		out = to
	}
	sum := hashes[want.kind]()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(r, u.left+1))
	if u.left -= n; u.left < 0 {
		return fmt.Errorf("it unpacks to more than %d bytes: %w", maxUnpacked, ErrBad)
	}
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(sum.Sum(nil), want.sum) == 0 || want.size >= 0 && want.size != n {
		return fmt.Errorf("it is not as RECORD says: %w", ErrBad)
	}
	return nil
}

func (u *unpacker) folders(dir string) error {
	if u.made[dir] {
		return nil
	}
	if err := u.folders(path.Dir(dir)); err != nil {
		return err
	}
	if err := u.into.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	u.made[dir] = true
	return u.into.Chmod(dir, 0o755)
}
