package skills

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of an archive.
const (
	// MaxArchive bounds the file, in bytes.
	MaxArchive = 64 << 20
	maxMembers = 4096
	maxFile    = 64 << 20  // bytes of a file in it
	maxTotal   = 128 << 20 // bytes of all
	// An archive is a bomb if what is in it is maxRatio times as large as it is, and larger than freeSize bytes.
	maxRatio = 100
	freeSize = 16 << 20
	// Of paths in it: their bytes, those of a name, and how many folders deep they lead.
	maxPath   = 512
	maxPart   = 200
	maxLevels = 16
)

// Errors of what cannot be installed.
var (
	ErrNoArchive = errors.New("File is not a valid ZIP archive") //nolint:staticcheck // DeerFlow's words
	ErrEmpty     = errors.New("Skill archive is empty")          //nolint:staticcheck // DeerFlow's words
	ErrLarge     = fmt.Errorf("Skill archive is too large: at most %d MiB can be installed", MaxArchive>>20)
)

// member is a file of an archive.
type member struct {
	*zip.File

	name string // below the skill's folder
}

// archive is one that has passed the checks of its names and sizes.
type archive struct {
	members []member // by their names
	found   []Finding
	text    string // of the SKILL.md; empty if there is none
	missing bool   // the SKILL.md
}

// openArchive checks the names and sizes in an archive. Nothing is unpacked but the SKILL.md and the first bytes of
// each file.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	if size > MaxArchive {
		return nil, ErrLarge
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // which the checks say better
		return nil, ErrNoArchive
	}
	if len(z.File) == 0 {
		return nil, ErrEmpty
	}
	a := &archive{}
	if a.counts(z.File, size); len(a.found) == 0 {
		a.names(z.File)
	}
	if err := refusal("", a.found); err != nil {
		return nil, err
	}
	root := rootOf(z.File)
	for _, f := range z.File {
		if name, ok := inside(f, root); ok {
			a.members = append(a.members, member{f, name})
		}
	}
	if len(a.members) == 0 {
		return nil, ErrEmpty
	}
	slices.SortFunc(a.members, func(x, y member) int { return strings.Compare(x.name, y.name) })
	if err := a.peek(root); err != nil {
		return nil, err
	}
	return a, refusal("", a.found)
}

// add notes a finding of a member; an empty name stands for the archive.
func (a *archive) add(rule, severity, name, shown, message, remedy string) {
	const most = 50 // are enough to refuse it
	if len(a.found) >= most {
		return
	}
	f := Finding{Rule: rule, Severity: severity, Message: message, Remedy: remedy, Evidence: evidence(shown)}
	if name != "" {
		f.File = new(evidence(name))
	}
	a.found = append(a.found, f)
}

// counts checks how many members there are, and how large they say that they are.
func (a *archive) counts(list []*zip.File, size int64) {
	if n := len(list); n > maxMembers {
		a.add("package-too-many-members", Critical, "", fmt.Sprintf("%d members", n),
			"Package contains more members than the allowed limit.", "Reduce the number of files in the skill package.")
	}
	var total uint64
	for _, f := range list {
		total += min(f.UncompressedSize64, 1<<40)
		if f.UncompressedSize64 > maxFile {
			a.add("package-oversized-file", Critical, f.Name, fmt.Sprintf("%d bytes", f.UncompressedSize64),
				"Package contains a file that exceeds the per-file size limit.", "Remove or shrink the oversized file.")
		}
	}
	switch {
	case len(a.found) > 0:
	case total > maxTotal:
		a.add("package-oversized-total", Critical, "", fmt.Sprintf("%d bytes", total),
			"Package exceeds the limit of its size.", "Remove or shrink files.")
	case total > freeSize && total > maxRatio*uint64(max(size, 1)):
		a.add("package-compression-ratio", Critical, "", fmt.Sprintf("%d bytes in %d", total, size),
			"Package is compressed so much that it looks like a bomb.", "Remove files that hold nothing.")
	}
}

// names checks the paths of all members, those too that are passed over when the skill is unpacked.
func (a *archive) names(list []*zip.File) {
	seen := map[string]bool{}
	for _, f := range list {
		a.name(f.Name)
		key := strings.ToLower(strings.TrimSuffix(f.Name, "/"))
		if seen[key] && !f.FileInfo().IsDir() {
			a.add("package-duplicate-member", Critical, f.Name, f.Name,
				"Package has two members whose names differ in case at most.", "Give each file a name of its own.")
		}
		seen[key] = true
		if f.Mode()&fs.ModeSymlink != 0 {
			a.add("package-symlink", High, f.Name, f.Name, "Package contains a symbolic link, which is left out.",
				"Put the file itself into the package.")
		}
	}
}

func (a *archive) name(name string) {
	switch {
	case strings.HasPrefix(name, "/"):
		a.add("package-absolute-path", Critical, name, name,
			"Archive member path is absolute.", "Use relative paths inside the skill archive.")
	case slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }), ".."):
		a.add("package-path-traversal", Critical, name, name,
			"Archive member path traverses outside the skill root.",
			"Remove parent-directory traversal from the package path.")
	case strings.Contains(name, ":"):
		a.add("package-ads-stream-name", Critical, name, name,
			"Archive member path contains a colon, which on Windows/NTFS addresses an alternate data stream hidden "+
				"from directory listing.",
			"Remove colons from archive member paths.")
	case !fit(name):
		a.add("package-invalid-name", Critical, name, name,
			"Archive member path is no name that every system can have.",
			"Use short names of printable characters, without backslashes.")
	}
}

// fit reports whether a path can be that of a file everywhere.
func fit(name string) bool {
	name = strings.TrimSuffix(name, "/")
	parts := strings.Split(name, "/")
	return utf8.ValidString(name) && len(name) <= maxPath && len(parts) <= maxLevels && !strings.Contains(name, `\`) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || hidden(r) }) &&
		!slices.ContainsFunc(parts, func(p string) bool {
			return p == "" || p == "." || len(p) > maxPart || strings.HasSuffix(p, " ") || strings.HasSuffix(p, ".") ||
				device(p)
		})
}

// device reports whether a name is that of a device on Windows.
func device(part string) bool {
	base, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && '0' <= base[3] &&
		base[3] <= '9'
}

// ignored are what systems add at the top of an archive.
func ignored(top string) bool { return strings.HasPrefix(top, ".") || top == "__MACOSX" }

// rootOf is the one folder that everything is in, with its slash; empty if the files are at the top.
func rootOf(list []*zip.File) (root string) {
	for _, f := range list {
		top, _, below := strings.Cut(f.Name, "/")
		switch {
		case ignored(top):
		case !below, root != "" && root != top+"/":
			return ""
		default:
			root = top + "/"
		}
	}
	return root
}

// inside is the name of a member below the skill's folder; ok is false for what is no file of the skill.
func inside(f *zip.File, root string) (name string, ok bool) {
	top, _, _ := strings.Cut(f.Name, "/")
	name, ok = strings.CutPrefix(f.Name, root)
	return name, ok && name != "" && !ignored(top) && f.Mode().IsRegular() && !strings.HasSuffix(f.Name, "/")
}

// peek looks at what each file is, and reads the SKILL.md.
func (a *archive) peek(root string) error {
	a.missing = true
	buf := make([]byte, 8)
	for _, m := range a.members {
		n, err := peekMember(m.File, buf)
		if err != nil {
			return err
		}
		if kind := executable(buf[:n]); kind != "" {
			a.add("package-executable-binary", Critical, root+m.name, kind,
				"Package contains an executable binary.", "Remove binary executables from the skill package.")
		}
		base := path.Base(m.name)
		switch {
		case m.name == FileName:
			raw, err := readMember(m.File, MaxText+1)
			if err != nil {
				return err
			}
			a.text, a.missing = string(raw), false
		case strings.EqualFold(base, FileName):
			a.add("package-nested-skill-md", Critical, root+m.name, root+m.name,
				"Package contains a nested SKILL.md file.", "Keep exactly one SKILL.md at the skill root.")
		}
		a.odd(root+m.name, m.name, buf[:n])
	}
	return nil
}

// odd notes files that have no place in a skill, without refusing it.
func (a *archive) odd(shown, name string, first []byte) {
	base := strings.ToLower(path.Base(name))
	switch {
	case slices.Contains(strings.Split(name, "/"), ".git"):
		a.add("package-git-directory", Medium, shown, name, "Package contains a .git folder.",
			"Leave the history of the files out.")
	case slices.Contains([]string{".env", ".npmrc", ".netrc", ".pypirc", "id_rsa", "id_ed25519", ".git-credentials",
		"credentials.json"}, base),
		strings.HasPrefix(base, ".env."), strings.Contains("/"+name, "/.ssh/"), strings.Contains("/"+name, "/.aws/"):
		a.add("package-hidden-sensitive-file", High, shown, name,
			"Package contains a file of a kind that holds credentials.", "Remove it.")
	case slices.Contains([]string{".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".jar", ".whl",
		".skill"}, path.Ext(base)),
		bytes.HasPrefix(first, []byte("\x1f\x8b")), bytes.HasPrefix(first, []byte("7z\xbc\xaf")),
		bytes.HasPrefix(first, []byte("Rar!")):
		a.add("package-nested-archive", High, shown, name, "Package contains an archive, which is not looked into.",
			"Put the files themselves into the package.")
	}
}

// executable names the form of a program for a machine; empty for other files.
func executable(first []byte) string {
	for _, known := range []struct{ magic, name string }{
		{"\x7fELF", "ELF"}, {"MZ", "PE"}, {"\xfe\xed\xfa\xce", "Mach-O"}, {"\xfe\xed\xfa\xcf", "Mach-O"},
		{"\xce\xfa\xed\xfe", "Mach-O"}, {"\xcf\xfa\xed\xfe", "Mach-O"}, {"\xca\xfe\xba\xbe", "Mach-O"},
	} {
		if bytes.HasPrefix(first, []byte(known.magic)) {
			return known.name
		}
	}
	return ""
}

func peekMember(f *zip.File, into []byte) (int, error) {
	r, err := f.Open()
	if err != nil {
		return 0, ErrNoArchive
	}
	defer r.Close()
	n, err := io.ReadFull(r, into)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, ErrNoArchive
	}
	return n, nil
}

// readMember unpacks a file of at most so many bytes. What its header says of the size is a claim.
func readMember(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, ErrNoArchive
	}
	defer r.Close()
	var b bytes.Buffer
	b.Grow(int(min(f.UncompressedSize64, 1<<20)))
	n, err := io.Copy(&b, io.LimitReader(r, most))
	if err != nil || n > int64(min(f.UncompressedSize64, 1<<40)) {
		return nil, ErrNoArchive
	}
	return b.Bytes(), nil
}

// ReadMember reads a file of an archive by its name, or by its name without the one folder that everything is in, for
// somebody who looks into it; fs.ErrNotExist if it is not there, [ErrLarge] if it has more than most bytes.
func ReadMember(r io.ReaderAt, size int64, name string, most int64) ([]byte, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // nothing is unpacked
		return nil, err
	}
	f := findMember(z, name)
	if f == nil {
		return nil, fs.ErrNotExist
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	raw, err := io.ReadAll(io.LimitReader(in, most+1)) // what the archive says of the size is a claim
	if err == nil && int64(len(raw)) > most {
		err = ErrLarge
	}
	return raw, err
}

func findMember(z *zip.Reader, name string) *zip.File {
	var inner *zip.File
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if f.Name == name {
			return f
		}
		if _, rest, ok := strings.Cut(f.Name, "/"); ok && rest == name && inner == nil {
			inner = f
		}
	}
	return inner
}
