//go:build linux

package bwrap

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// groups is where fresh cgroups can be made: below the server's own, so that its bounds keep holding. At most one of
// the two is set; the zero value means that none can be made.
type groups struct {
	v2 string            // a delegated folder of the unified hierarchy
	v1 map[string]string // controller ("pids", "memory", "cpu") to the folder in its hierarchy
}

// host is where cgroups are looked for; tests give it folders of their own.
type host struct {
	selfCgroup []byte // /proc/self/cgroup
	mounts     []byte // /proc/self/mounts
	root       string // put before the mount points
}

func realHost() host {
	own, _ := os.ReadFile("/proc/self/cgroup")
	mounts, _ := os.ReadFile("/proc/self/mounts")
	return host{selfCgroup: own, mounts: mounts}
}

// findGroups prefers the unified hierarchy where it is delegated with its controllers. Anything that is not exactly
// as it should be means "no cgroups": rlimits and the watchdog take over.
func findGroups(h host) groups {
	if dir, ok := findV2(h); ok {
		return groups{v2: dir}
	}
	return groups{v1: findV1(h)}
}

func (g groups) parents() []string {
	if g.v2 != "" {
		return []string{g.v2}
	}
	var dirs []string
	for _, dir := range g.v1 {
		dirs = append(dirs, dir)
	}
	return dirs
}

// group is the fresh cgroup of one sandbox; with no folders it is none, and all its methods do nothing.
type group struct {
	v2   string
	v1   map[string]string
	self map[string]string // the server's own, where a thread goes back to
}

// create makes the cgroup and sets its limits, before anything is in it. The group kill of the OOM killer stays off:
// it would take whoever shares memory with a starting process, which is the server.
func (g groups) create(name string, l sandbox.Limits) (*group, error) {
	out := &group{v1: map[string]string{}, self: g.v1}
	var err error
	if g.v2 != "" {
		out.v2 = filepath.Join(g.v2, name)
		err = out.setupV2(l)
	} else {
		for ctl, parent := range g.v1 {
			out.v1[ctl] = filepath.Join(parent, name)
		}
		err = out.setupV1(l)
	}
	if err != nil {
		out.remove()
		return nil, err
	}
	return out, nil
}

// spareProcesses is how far the cgroup's bound lies above the one that commands have: bwrap, the init and the shells
// that wait for commands must always find room.
const spareProcesses = 64

func (g *group) write(dir, file, value string) error {
	if err := writeFile(filepath.Join(dir, file), value, 0o644, identity{}); err != nil {
		return fmt.Errorf("set %s to %s: %w", file, value, err)
	}
	return nil
}

// has reports whether the kernel counts the resource for this sandbox.
func (g *group) has(controller string) bool { return g.v2 != "" || g.v1[controller] != "" }

// oomKills is how often the OOM killer came to this sandbox.
func (g *group) oomKills() int {
	if g.v2 != "" {
		return field(filepath.Join(g.v2, "memory.events"), "oom_kill")
	}
	if dir := g.v1["memory"]; dir != "" {
		return field(filepath.Join(dir, "memory.oom_control"), "oom_kill")
	}
	return 0
}

// field reads the number behind a name in a file of "name number" lines, which may go on behind it.
func field(file, name string) int {
	for line := range strings.Lines(string(readAt(unix.AT_FDCWD, file))) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}

// remove deletes the cgroup, whose processes are gone or on their way. The kernel may need a moment to notice.
func (g *group) remove() {
	if g.v2 != "" {
		_ = os.WriteFile(filepath.Join(g.v2, "cgroup.kill"), []byte("1"), 0)
	}
	for _, dir := range g.dirs() {
		for wait := time.Millisecond; unix.Rmdir(dir) == unix.EBUSY && wait < time.Second; wait *= 2 {
			time.Sleep(wait)
		}
	}
}

func (g *group) dirs() []string {
	var out []string
	if g.v2 != "" {
		out = append(out, g.v2)
	}
	for _, dir := range g.v1 {
		out = append(out, dir)
	}
	return out
}

// writable reports whether a process like this one may make folders in dir.
func writable(dir string) bool {
	var st unix.Statfs_t
	if unix.Access(dir, unix.W_OK) != nil || unix.Statfs(dir, &st) != nil {
		return false
	}
	fi, err := os.Stat(dir)
	return err == nil && fi.Mode()&fs.ModeDir != 0 && st.Flags&unix.ST_RDONLY == 0
}
