package toolbox

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

//go:embed lock.json
var lockText []byte

// ownLock is the lock of this program.
var ownLock = sync.OnceValue(func() *Lock {
	l, err := readLock(lockText)
	if err != nil {
		panic("toolbox: lock.json: " + err.Error()) // a test reads it
	}
	return l
})

// Lock names the files of all targets.
type Lock struct {
	Pythons  []string        `json:"pythons"`
	Packages []lockedPackage `json:"packages"`
}

// Package is a Python package of a version of the toolbox.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"`
	// Import is the name by which a program imports it. Empty for what only others need.
	Import string `json:"import,omitempty"`
}

type lockedPackage struct {
	Package

	Wheels []Wheel `json:"wheels"`
}

// Wheel is a file of the lock.
type Wheel struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// Pythons and Archs are those that it is for; none means all.
	Pythons []string `json:"python,omitempty"`
	Archs   []string `json:"arch,omitempty"`

	pkg string
}

const (
	maxWheel = 256 << 20 // bytes
	maxSet   = 1 << 30
)

var (
	wheelFile   = regexp.MustCompile(`^[A-Za-z0-9_.+-]{1,200}\.whl$`)
	hexDigest   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)
)

func readLock(text []byte) (*Lock, error) {
	l := &Lock{}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, err
	}
	for _, p := range l.Packages {
		if !packageName.MatchString(p.Name) || p.Version == "" || p.Licence == "" || len(p.Wheels) == 0 {
			return nil, fmt.Errorf("package %q: want a name, a version, a licence and wheels", p.Name)
		}
		for i, w := range p.Wheels {
			if !wheelFile.MatchString(w.File) || !hexDigest.MatchString(w.SHA256) || w.Size <= 0 || w.Size > maxWheel {
				return nil, fmt.Errorf("wheel %q: want a file name, a SHA-256 and a size of at most %d bytes", w.File,
					maxWheel)
			}
			p.Wheels[i].pkg = p.Name
		}
	}
	return l, nil
}

// set is what is installed for a target.
type set struct {
	target   Target
	packages []Package
	wheels   []Wheel
}

// layout changes when what is made of the same files does.
const layout = "1"

// For chooses the files for a target; one that the lock does not have is [ErrTarget].
func (l *Lock) For(t Target) (*set, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if !slices.Contains(l.Pythons, t.Python) {
		return nil, fmt.Errorf("%s: %w: it is for Python %s", t, ErrTarget, strings.Join(l.Pythons, ", "))
	}
	s := &set{target: t}
	total := int64(0)
	for _, p := range l.Packages {
		for _, w := range p.Wheels {
			if (w.Pythons == nil || slices.Contains(w.Pythons, t.Python)) &&
				(w.Archs == nil || slices.Contains(w.Archs, t.Arch)) {
				s.packages, s.wheels = append(s.packages, p.Package), append(s.wheels, w)
				total += w.Size
				break
			}
		}
	}
	if len(s.wheels) == 0 || total > maxSet {
		return nil, fmt.Errorf("%s: %w", t, ErrTarget)
	}
	return s, nil
}

// size is how many bytes the files have.
func (s *set) size() (n int64) {
	for _, w := range s.wheels {
		n += w.Size
	}
	return n
}

// name is that of the set's folder: it follows from the content.
func (s *set) name() string {
	sums := []string{layout}
	for _, w := range s.wheels {
		sums = append(sums, w.SHA256)
	}
	sort.Strings(sums[1:])
	digest := sha256.Sum256([]byte(strings.Join(sums, "\n")))
	return s.target.prefix() + hex.EncodeToString(digest[:])[:16]
}

// importNames are the names by which programs import packages, sorted as people do.
func importNames(packages []Package) (names []string) {
	for _, p := range packages {
		if p.Import != "" {
			names = append(names, p.Import)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return names
}
