//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pudu-ai/pudu/sandbox"
)

// wanted are the controllers of a sandbox.
var wanted = []string{"pids", "memory", "cpu"}

// findV2 finds the server's folder in the unified hierarchy and makes it pass its controllers on, which the kernel
// allows only when no process is directly in it: the server moves into a leaf "pudu-server" if it has to.
func findV2(h host) (string, bool) {
	mount, ok := h.mounted("cgroup2", "")
	if !ok {
		return "", false
	}
	var own string
	for line := range strings.Lines(string(h.selfCgroup)) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSpace(rest)
		}
	}
	// After a restart within the same unit, or for a second provider, the server is in its leaf already.
	dir := filepath.Join(mount, strings.TrimSuffix(own, "/"+serverLeaf))
	if own == "" || own == "/" || !writable(dir) || !offers(dir, "cgroup.controllers") {
		return "", false
	}
	if offers(dir, "cgroup.subtree_control") {
		return dir, true
	}
	return dir, delegate(dir) == nil && offers(dir, "cgroup.subtree_control")
}

const serverLeaf = "pudu-server"

func offers(dir, file string) bool {
	data, _ := os.ReadFile(filepath.Join(dir, file))
	have := strings.Fields(string(data))
	return !slices.ContainsFunc(wanted, func(c string) bool { return !slices.Contains(have, c) })
}

func delegate(dir string) error {
	g := &group{}
	want := "+" + strings.Join(wanted, " +")
	err := g.write(dir, "cgroup.subtree_control", want)
	if !errors.Is(err, syscall.EBUSY) {
		return err
	}
	leaf := filepath.Join(dir, serverLeaf)
	if err := os.Mkdir(leaf, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	pids, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	for pid := range strings.FieldsSeq(string(pids)) {
		if err := g.write(leaf, "cgroup.procs", pid); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return g.write(dir, "cgroup.subtree_control", want)
}

func (g *group) setupV2(l sandbox.Limits) error {
	if err := os.Mkdir(g.v2, 0o755); err != nil {
		return err
	}
	if err := g.write(g.v2, "pids.max", strconv.Itoa(l.Processes+spareProcesses)); err != nil {
		return err
	}
	if err := g.write(g.v2, "memory.max", strconv.FormatInt(l.Memory, 10)); err != nil {
		return err
	}
	if err := g.write(g.v2, "memory.swap.max", "0"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if l.CPUs > 0 {
		return g.write(g.v2, "cpu.max", fmt.Sprintf("%d %d", int(l.CPUs*cpuPeriod), cpuPeriod))
	}
	return nil
}

// join makes the process be born in the cgroup. That is safe only because the group is fresh, is nobody else's, and
// has no group kill: starting shares the server's memory for a moment.
func (g *group) join(attr *syscall.SysProcAttr) (*os.File, error) {
	if g.v2 == "" {
		return nil, nil
	}
	dir, err := os.Open(g.v2)
	if err != nil {
		return nil, err
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
	return dir, nil
}
