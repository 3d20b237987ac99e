//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// bind shows a folder of the host at another place, with mapped users if it is a person's.
type bind struct {
	from, to string
	mapped   bool
	readOnly bool
}

// reachable resolves the mounts to paths that the sandbox's user can walk. A folder below one that is closed to others,
// such as /root, is shown inside the runtime folder, by a mount that only the thread that starts bwrap sees.
func (b *box) reachable() (mounts []sandbox.Mount, stage []bind, err error) {
	if !passable(b.dir) && b.who.drop {
		return nil, nil, unavailable("use runtime folder "+b.dir,
			errors.New("not all users can pass through the folders above it; "+
				"set TMPDIR to one like /tmp"))
	}
	for i, m := range b.spec.Mounts {
		host, err := filepath.EvalSymlinks(m.Host)
		if err != nil {
			return nil, nil, fmt.Errorf("mount %s: find its folder on the host: %w", m.Path, err)
		}
		if b.who.drop && (!m.OfThread() || !passable(host)) {
			to := filepath.Join(b.dir, "m"+strconv.Itoa(i))
			if err := os.Mkdir(to, 0o755); err != nil {
				return nil, nil, err
			}
			stage = append(stage, bind{from: host, to: to, mapped: !m.OfThread(), readOnly: m.ReadOnly})
			host = to
		}
		mounts = append(mounts, sandbox.Mount{Host: host, Path: m.Path, ReadOnly: m.ReadOnly})
	}
	return mounts, stage, nil
}

// passable reports whether every user may walk through all folders above path.
func passable(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		fi, err := os.Stat(dir)
		if err != nil || fi.Mode()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// setStage gives the calling thread mounts of its own. It must not be used for anything else afterwards.
func setStage(stage []bind, who identity) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("show folders that other users cannot reach: %w; "+
			"move the data folder out of a closed folder such as /root, or run the server as a plain user", err)
	}
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("separate mounts: %w", err)
	}
	for _, s := range stage {
		if err := s.show(who); err != nil {
			return fmt.Errorf("show %s: %w", s.from, err)
		}
	}
	return nil
}

func (s bind) show(who identity) error {
	if s.mapped {
		err := showMapped(s.from, s.to, who)
		if err == nil || !unmappable(err) {
			return err
		}
		if !s.readOnly {
			return fmt.Errorf("the kernel or the file system cannot map users (%w); show it read-only, or run Pudu "+
				"as the folder's owner", err)
		}
	}
	return unix.Mount(s.from, s.to, "", unix.MS_BIND|unix.MS_REC, "")
}
