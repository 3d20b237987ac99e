package sandbox

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// DefaultTimeout bounds a [Command] that names no time-out.
const DefaultTimeout = 600 * time.Second

// OrDefault replaces the zero fields of l by their defaults. CPUs stays zero, which means all of the machine's.
func (l Limits) OrDefault() Limits {
	def := func(v, d int64) int64 {
		if v > 0 {
			return v
		}
		return d
	}
	l.Processes = int(def(int64(l.Processes), 256))
	l.Memory = def(l.Memory, 2<<30)
	l.Tmp = def(l.Tmp, 256<<20)
	l.Disk = def(l.Disk, 4<<30)
	l.FileSize = def(l.FileSize, 2<<30)
	l.CPUs = max(l.CPUs, 0)
	return l
}

var (
	safeID  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,199}$`)
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Check reports the first thing in s that no provider can work with: an id that is no file name, or a mount that is
// not absolute and clean, lies outside /mnt, is given twice, or lies inside a writable one (where code of the sandbox
// could put a link in its place).
func (s Spec) Check() error {
	if !safeID.MatchString(s.ID) {
		return fmt.Errorf("sandbox id %q: want 1 to 200 letters, digits, and any of _.@- after the first", s.ID)
	}
	seen := map[string]bool{}
	for _, m := range s.Mounts {
		switch {
		case !isVirtual(m.Path):
			return fmt.Errorf("mount %q: the path must be clean and below /mnt", m.Path)
		case !filepath.IsAbs(m.Host) || strings.ContainsRune(m.Host, 0):
			return fmt.Errorf("mount %s: the host folder must be an absolute path", m.Path)
		case seen[m.Path]:
			return fmt.Errorf("mount %s: given twice", m.Path)
		case slices.ContainsFunc(s.Mounts,
			func(o Mount) bool { return !o.ReadOnly && strings.HasPrefix(m.Path, o.Path+"/") }):
			return fmt.Errorf("mount %s: lies inside another mount that is writable", m.Path)
		}
		seen[m.Path] = true
	}
	return nil
}

func isVirtual(p string) bool {
	return strings.HasPrefix(p, "/mnt/") && path.Clean(p) == p && !strings.ContainsAny(p, "\x00\n")
}

// Check reports what in c no shell can run: a NUL byte, a relative folder, or a variable without a proper name.
func (c Command) Check() error {
	if strings.ContainsRune(c.Script, 0) {
		return errors.New("script: contains a NUL byte, which bash cannot read; write it with printf '\\0' instead")
	}
	if c.Dir != "" && (!path.IsAbs(c.Dir) || strings.ContainsRune(c.Dir, 0)) {
		return fmt.Errorf("working directory %q: must be an absolute path", c.Dir)
	}
	for _, kv := range slices.Concat(c.Env, c.Secrets) {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !envName.MatchString(name) || strings.ContainsRune(value, 0) {
			return fmt.Errorf("variable %q: want NAME=value with a name of letters, digits and _, and no NUL byte",
				name)
		}
	}
	return nil
}
