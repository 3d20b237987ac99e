package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/durable"
	"github.com/pudu-ai/pudu/internal/lib/flock"
)

// What stands in the toolbox's folder beside the versions.
const (
	lockFile  = ".lock"
	downloads = ".downloads"
	making    = ".making-"
	removing  = ".removing-"
)

// What stands in the folder of a version.
const (
	modules      = "python" // the folder of the packages
	fonts        = "fonts"
	settings     = "etc"
	manifestFile = "toolbox.json"
)

// manifest says what a version is. It is written last.
type manifest struct {
	Target    Target    `json:"target"`
	Installed time.Time `json:"installed"`
	Bytes     int64     `json:"bytes"`
	Packages  []Package `json:"packages"`
}

func readManifest(dir string) (m manifest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// Install makes the version for a target, from the index or, if file is not nil, from what [Box.Pack] has written. One
// that is there already is returned as it is. tell hears how far it is; nil hears nothing.
func (b *Box) Install(ctx context.Context, t Target, file io.Reader, tell func(Progress)) (Version, error) {
	set, err := b.lock.For(t)
	if err != nil {
		return Version{}, err
	}
	unlock, err := b.alone()
	if err != nil {
		return Version{}, err
	}
	defer unlock()
	if v, ok, err := b.installed(set); ok || err != nil {
		return v, err
	}
	if tell == nil {
		tell = func(Progress) {}
	}
	if err := b.install(ctx, set, file, tell); err != nil {
		return Version{}, b.explain(fmt.Errorf("install the toolbox: %w", err))
	}
	v, _, err := b.installed(set)
	return v, err
}

func (b *Box) installed(s *set) (Version, bool, error) {
	list, err := b.List()
	for _, v := range list {
		if v.Name == s.name() {
			return v, true, nil
		}
	}
	return Version{}, false, err
}

// explain says what to do about a full disk.
func (b *Box) explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: the disk of %s is full; the toolbox takes about %d MB while it is made", err, b.cfg.Dir,
			neededMB)
	}
	return err
}

// neededMB is what the downloads and what is made of them take, in megabytes.
const neededMB = 800

func (b *Box) install(ctx context.Context, s *set, file io.Reader, tell func(Progress)) error {
	loads := filepath.Join(b.cfg.Dir, downloads)
	if err := os.MkdirAll(loads, 0o700); err != nil {
		return err
	}
	if err := sweep(loads, s); err != nil {
		return err
	}
	paths, err := b.bring(ctx, s, loads, file, tell)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.cfg.Dir, making)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // what was renamed is not there
	if err := b.build(ctx, s, paths, dir, tell); err != nil {
		return err
	}
	if err := syncAll(dir); err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(b.cfg.Dir, s.name())); err != nil {
		return err
	}
	return errors.Join(durable.Sync(b.cfg.Dir), os.RemoveAll(loads))
}

// bring has all wheels of a set in the folder of downloads, and returns their paths.
func (b *Box) bring(ctx context.Context, s *set, loads string, file io.Reader, tell func(Progress)) ([]string, error) {
	if file != nil {
		if err := takeOut(ctx, s, loads, file, tell); err != nil {
			return nil, err
		}
	}
	paths := make([]string, len(s.wheels))
	before := int64(0)
	for i, w := range s.wheels {
		p := Progress{Step: "download", What: w.File, Total: s.size()}
		var err error
		if paths[i], err = b.fetch(ctx, loads, w,
			func(n int64) { p.Done = before + min(n, w.Size); tell(p) }); err != nil {
			return nil, err
		}
		before += w.Size
	}
	return paths, nil
}

// build makes the version in a folder.
func (b *Box) build(ctx context.Context, s *set, paths []string, dir string, tell func(Progress)) error {
	for _, name := range []string{"", modules, fonts, settings} {
		if err := mkdir(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, modules))
	if err != nil {
		return err
	}
	defer root.Close()
	m := manifest{Target: s.target, Installed: time.Now().UTC(), Packages: s.packages}
	before := int64(0)
	for i, w := range s.wheels {
		if err := ctx.Err(); err != nil {
			return err
		}
		tell(Progress{"unpack", w.File, before, s.size()})
		n, err := unpackFile(paths[i], w, root)
		if err != nil {
			return fmt.Errorf("%s: %w", w.File, err)
		}
		m.Bytes += n
		before += w.Size
	}
	if err := arrange(dir); err != nil {
		return err
	}
	tell(Progress{"compile", "", s.size(), s.size()})
	b.compile(ctx, s.target, dir)
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writePublic(filepath.Join(dir, manifestFile), text)
}

// mkdir makes a folder that everybody may look into, whatever the umask is: the sandbox of root runs as another user.
func mkdir(dir string) error {
	err := os.Mkdir(dir, 0o755) //nolint:gosec // as said
	if errors.Is(err, os.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Chmod(dir, 0o755)) //nolint:gosec // as said
}

// unpackFile unpacks a wheel, whose bytes are compared with the lock once more: those of the folder of downloads may be
// old.
func unpackFile(name string, w Wheel, into *os.Root) (int64, error) {
	if err := checkFile(name, w); err != nil {
		return 0, err
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return unpack(f, w.Size, into)
}

// writePublic writes a file that everybody may read, whatever the umask is: the sandbox of root runs as another user.
func writePublic(name string, text []byte) error {
	if err := os.WriteFile(name, text, 0o644); err != nil { //nolint:gosec // there is no secret in it
		return err
	}
	return os.Chmod(name, 0o644) //nolint:gosec // as above
}

// compileTimeout bounds the compilation, which takes half a minute.
const compileTimeout = 15 * time.Minute

// compile has Python translate the modules, which are not run. In the sandbox, where they cannot be written, each
// program would else do it again. What is not translated works all the same, only slower, so that nothing ends by it.
func (b *Box) compile(ctx context.Context, t Target, dir string) {
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	within := "import sys; sys.exit(0 if sys.implementation.name == 'cpython' and '%d.%d' % sys.version_info[:2] == '" +
		t.Python + "' else 3)"
	if err := python(ctx, "-c", within).Run(); err != nil {
		b.cfg.Log.Info("the modules of the toolbox are not compiled: this machine's own Python is another one",
			"python", t.Python, "error", err)
		return
	}
	from := filepath.Join(dir, modules)
	c := python(ctx, "-m", "compileall", "-qq", "-j", "2", "--invalidation-mode", "unchecked-hash", "-s", from, "-p",
		Mount+"/"+modules,
		"-x", `/tests?/`, from)
	if out, err := c.CombinedOutput(); err != nil && ctx.Err() == nil {
		b.cfg.Log.Info("some modules of the toolbox could not be compiled", "error", err, "output",
			string(out[:min(len(out), 500)]))
	}
	if err := openUp(from); err != nil {
		b.cfg.Log.Warn("the compiled modules of the toolbox may be unreadable for sandboxes", "error", err)
	}
}

// python runs the machine's Python apart from everything else that is installed there.
func python(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, Python, append([]string{"-I"}, args...)...)
	c.Env = []string{"PATH=/usr/bin:/bin", "LC_CTYPE=C.UTF-8"}
	c.Dir = "/"
	return c
}

// openUp lets everybody read what Python has written.
func openUp(dir string) error {
	return filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == "__pycache__" {
			return os.Chmod(name, 0o755) //nolint:gosec // as above
		}
		if strings.HasSuffix(name, ".pyc") {
			return os.Chmod(name, 0o644) //nolint:gosec // as above
		}
		return nil
	})
}

// sweep removes from the folder of downloads what is of another set, and what installations that were killed have left.
func sweep(loads string, s *set) error {
	wanted := map[string]bool{}
	for _, w := range s.wheels {
		wanted[w.SHA256], wanted[w.SHA256+".part"] = true, true
	}
	entries, err := os.ReadDir(loads)
	for _, e := range entries {
		if !wanted[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(loads, e.Name())))
		}
	}
	above, errAbove := os.ReadDir(filepath.Dir(loads))
	for _, e := range above {
		if strings.HasPrefix(e.Name(), making) || strings.HasPrefix(e.Name(), removing) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(loads), e.Name())))
		}
	}
	return errors.Join(err, errAbove)
}

// Remove removes a version, or those that are not current if name is empty, and returns their names. One that a process
// holds is left alone: it is the error.
func (b *Box) Remove(name string) (gone []string, err error) {
	unlock, err := b.alone()
	if err != nil {
		return nil, err
	}
	defer unlock()
	list, err := b.List()
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if v.Name != name && (name != "" || v.Current) {
			continue
		}
		if errOne := b.removeOne(v); errOne != nil {
			err = errors.Join(err, errOne)
			continue
		}
		gone = append(gone, v.Name)
	}
	if name != "" && len(gone) == 0 && err == nil {
		err = fmt.Errorf("version %.100q of the toolbox: %w", name, os.ErrNotExist)
	}
	return gone, err
}

func (b *Box) removeOne(v Version) error {
	f, err := os.Open(v.Host)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := flock.Try(f, true); err != nil {
		return fmt.Errorf("%s is shown in sandboxes of a Pudu that is running; stop it first: %w", v.Name, err)
	}
	out := filepath.Join(b.cfg.Dir, removing+v.Name)
	if err := os.Rename(v.Host, out); err != nil { // so that none is half there
		return err
	}
	return os.RemoveAll(out)
}

// Hold keeps a version from being removed until the function that it returns is called.
func (b *Box) Hold(v Version) (release func(), err error) {
	f, err := os.Open(v.Host)
	if err != nil {
		return nil, err
	}
	if err := flock.Try(f, false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}

// alone keeps other processes from changing the folder, which it makes, until the function that it returns is called.
func (b *Box) alone() (unlock func(), err error) {
	if err := os.MkdirAll(b.cfg.Dir, 0o755); err != nil { //nolint:gosec // the sandbox of root runs as another user, who must get there
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(b.cfg.Dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock.Try(f, true); err != nil {
		return nil, errors.Join(ErrBusy, f.Close())
	}
	return func() { f.Close() }, nil
}
