//go:build linux

package bwrap

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// prefix starts the name of everything that a provider makes on the host: "pudu-sandbox-<pid of the server>-<random>".
const prefix = "pudu-sandbox-"

// prepare runs once, before the first sandbox: it finds out where cgroups can be made and removes what a server that
// was killed could not.
func (p *Provider) prepare() {
	keepInherited()
	if !p.cfg.NoCgroup {
		p.groups = findGroups(realHost())
	}
	ctx, cancel := context.WithTimeout(context.Background(), reapTimeout)
	defer cancel()
	_ = p.reap(ctx) // what does not end is not in the way of a new sandbox
}

// keepInherited stops descriptors that the server itself inherited (Go makes all of its own so) from being inherited
// any further: bwrap would hold them open, and code inside could open them through /proc.
func keepInherited() {
	names, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range names {
		if fd, err := strconv.Atoi(filepath.Base(name)); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// leftovers lists what servers that are gone left in dir.
func leftovers(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	var out []string
	for _, name := range names {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), prefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && serverGone(n) {
			out = append(out, name)
		}
	}
	return out
}

func own(dir string) bool {
	fi, err := os.Lstat(dir)
	if err != nil || !fi.IsDir() {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
