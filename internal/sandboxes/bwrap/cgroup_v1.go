//go:build linux

package bwrap

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/sandbox"
)

// findV1 finds the server's own folder in the hierarchies of pids, memory and cpu. Pids and memory are needed, cpu is
// taken along.
func findV1(h host) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(h.selfCgroup)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, own, _ := strings.Cut(rest, ":")
		for ctl := range strings.SplitSeq(controllers, ",") {
			if ctl != "pids" && ctl != "memory" && ctl != "cpu" {
				continue
			}
			if dir, ok := h.mounted("cgroup", ctl); ok && writable(filepath.Join(dir, own)) {
				out[ctl] = filepath.Join(dir, own)
			}
		}
	}
	if out["pids"] == "" || out["memory"] == "" {
		return nil
	}
	return out
}

// mounted finds the mount point of a file system with the option ("" for any).
func (h host) mounted(kind, option string) (string, bool) {
	for line := range strings.Lines(string(h.mounts)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[2] != kind {
			continue
		}
		for o := range strings.SplitSeq(f[3], ",") {
			if option == "" || o == option {
				return filepath.Join("/", h.root, f[1]), true
			}
		}
	}
	return "", false
}

func (g *group) setupV1(l sandbox.Limits) error {
	for _, dir := range g.v1 {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if dir := g.v1["pids"]; dir != "" {
		if err := g.write(dir, "pids.max", strconv.Itoa(l.Processes+spareProcesses)); err != nil {
			return err
		}
	}
	if dir := g.v1["memory"]; dir != "" {
		if err := g.write(dir, "memory.limit_in_bytes", strconv.FormatInt(l.Memory, 10)); err != nil {
			return err
		}
		// Only where the kernel accounts for swap.
		if err := g.write(dir, "memory.memsw.limit_in_bytes", strconv.FormatInt(l.Memory, 10)); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if dir := g.v1["cpu"]; dir != "" && l.CPUs > 0 {
		return g.write(dir, "cpu.cfs_quota_us", strconv.Itoa(int(l.CPUs*cpuPeriod)))
	}
	return nil
}

// cpuPeriod is the kernel's default period of the CPU quota in microseconds.
const cpuPeriod = 100_000

// enter puts the calling thread into the cgroup, so that the process that it starts next begins its life there. A
// thread that moves itself alone costs microseconds; moving another process costs the whole machine a pause of 5 to 20
// ms. The thread's memory is still charged to the server.
func (g *group) enter() error {
	for _, dir := range g.v1 {
		if err := g.write(dir, "tasks", "0"); err != nil {
			return err
		}
	}
	return nil
}

// leave takes the calling thread back. If that fails the thread must not be used any more.
func (g *group) leave() error {
	var errs []error
	for ctl := range g.v1 {
		errs = append(errs, g.write(g.self[ctl], "tasks", "0"))
	}
	return errors.Join(errs...)
}
