// Package toolbox brings Python packages into the sandbox: those that the agent needs to work with tables, charts,
// documents and PDF, and a font that has Chinese characters.
//
// In goes lock.json, which names each file with its hash; scripts/toolbox-lock makes it. Out comes a folder per version
// below the data folder, which sandboxes show read-only at [Mount]. A version is made aside and renamed when it is
// whole, and never changes after that; several stand side by side. [Box.Install] takes the files from an index of
// packages, or from a file that [Box.Pack] has made for a machine without a network. Nothing of them is run. Callers
// are the command, the route and the start of the program.
package toolbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of the toolbox; they come wrapped.
var (
	// ErrTarget: there is no toolbox for this Python.
	ErrTarget = errors.New("there is no toolbox for it")
	// ErrBusy: another process installs or removes.
	ErrBusy = errors.New("another Pudu is installing or removing the toolbox of this data folder; wait for it")
	// ErrBad: a file is not what the lock says, or not what a wheel may be.
	ErrBad = errors.New("the file is not what it should be")
)

// Config says where a toolbox is kept and where its files come from.
type Config struct {
	// Dir is its folder, which need not exist.
	Dir string
	// Index is the base URL of an index of packages (PEP 503); empty means [DefaultIndex].
	Index string
	// HTTP calls the index.
	HTTP *http.Client
	// Log hears of what goes wrong without ending anything; nil means slog.Default().
	Log *slog.Logger

	lock *Lock // nil means the one of the program; tests bring their own
}

// DefaultIndex is the index of Python packages that everybody uses.
const DefaultIndex = "https://pypi.org/simple"

// Box is a toolbox folder. It is safe for concurrent use, also by several processes.
type Box struct {
	cfg  Config
	lock *Lock
}

// New returns the toolbox of a folder. It touches nothing.
func New(cfg Config) *Box {
	cfg.Index = strings.TrimRight(cmp.Or(cfg.Index, DefaultIndex), "/")
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	return &Box{cfg, cmp.Or(cfg.lock, ownLock())}
}

// Version is one that is installed.
type Version struct {
	// Name is that of its folder: Python, machine and digest.
	Name string
	// Host is its folder.
	Host string
	// Current says that it is what this program would install.
	Current bool
	// Bytes is what it takes on the disk, and Packages what is in it.
	Bytes    int64
	Packages []Package
}

// Names are those of the packages by which programs import them, sorted.
func (v Version) Names() []string { return importNames(v.Packages) }

// wanted is the name of the version that this program would install for a target.
func (b *Box) wanted(t Target) (string, error) {
	set, err := b.lock.For(t)
	if err != nil {
		return "", err
	}
	return set.name(), nil
}

// Find returns the version that sandboxes with this Python are to show: the one that this program would install, else
// the one that was installed last. ok is false if there is none.
func (b *Box) Find(t Target) (v Version, ok bool, err error) {
	list, err := b.List()
	if err != nil || t.check() != nil {
		return Version{}, false, err
	}
	wanted, err := b.wanted(t)
	if err != nil && !errors.Is(err, ErrTarget) {
		return Version{}, false, err
	}
	for _, v := range list { // the newest first
		if v.Name == wanted {
			return v, true, nil
		}
	}
	for _, v := range list {
		if strings.HasPrefix(v.Name, t.prefix()) {
			return v, true, nil
		}
	}
	return Version{}, false, nil
}

// empty reports whether nothing was ever installed, which takes no time to find out.
func (b *Box) empty() bool {
	_, err := os.Stat(b.cfg.Dir)
	return errors.Is(err, fs.ErrNotExist)
}

// List returns the versions that are installed, the newest first.
func (b *Box) List() ([]Version, error) {
	entries, err := os.ReadDir(b.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the toolbox: %w", err)
	}
	type dated struct {
		Version

		at int64
	}
	var list []dated
	for _, e := range entries {
		if !e.IsDir() || !versionName.MatchString(e.Name()) {
			continue
		}
		m, err := readManifest(filepath.Join(b.cfg.Dir, e.Name()))
		if err != nil {
			b.cfg.Log.Warn("a version of the toolbox cannot be read and is not used", "version", e.Name(), "error", err)
			continue
		}
		v := Version{Name: e.Name(), Host: filepath.Join(b.cfg.Dir, e.Name()), Bytes: m.Bytes, Packages: m.Packages}
		wanted, err := b.wanted(m.Target)
		v.Current = err == nil && wanted == v.Name
		list = append(list, dated{v, m.Installed.UnixNano()})
	}
	slices.SortFunc(list, func(a, b dated) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.Name, b.Name)) })
	out := make([]Version, len(list))
	for i := range list {
		out[i] = list[i].Version
	}
	return out, nil
}
