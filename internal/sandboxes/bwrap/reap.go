//go:build linux

package bwrap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A sandbox ends with the server that opened it: bwrap asks the kernel to be killed with its parent, and the init ends
// when the pipe from the server does. That takes some milliseconds in which a command may still write, so that a server
// that goes on with the work of one that was killed waits for the end first.

// initFile holds the number and the start time of the sandbox's first process, with which all others end; launchFile
// those of bwrap itself, which leads their session. When bwrap is killed before it has set up the first process, that
// waits for it for ever.
const (
	initFile   = "init"
	launchFile = "launch"
)

// reapTimeout bounds the wait when a provider is first used.
const reapTimeout = 5 * time.Second

// Reap returns when no process is left of sandboxes on this machine whose server is gone, and removes their traces. It
// costs next to nothing when there are none. The error is ctx's.
func (p *Provider) Reap(ctx context.Context) error {
	p.sweep.Do(p.prepare)
	return p.reap(ctx)
}

func (p *Provider) reap(ctx context.Context) error {
	for _, dir := range leftovers(p.cfg.RuntimeDir) {
		if !own(dir) {
			continue
		}
		if err := endInit(ctx, filepath.Join(dir, initFile)); err != nil {
			return fmt.Errorf("wait for the end of the sandbox %s: %w", filepath.Base(dir), err)
		}
		endLaunch(filepath.Join(dir, launchFile))
		os.RemoveAll(dir)
	}
	for _, g := range p.groups.parents() {
		for _, dir := range leftovers(g) {
			if err := endGroup(ctx, dir); err != nil {
				return fmt.Errorf("wait for the end of the cgroup %s: %w", filepath.Base(dir), err)
			}
		}
	}
	return nil
}

// note writes down a process that must be gone before the sandbox is.
func (b *box) note(file string, pid int) error {
	text := fmt.Sprintf("%d %s\n", pid, startTime(pid))
	return writeFile(filepath.Join(b.dir, file), text, 0o600, identity{})
}

// endLaunch kills what is left of the group of processes that the file names, if its leader is gone or still the same.
func endLaunch(file string) {
	text, _ := os.ReadFile(file)
	number, start, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 1 {
		return // there was none
	}
	if now := startTime(pid); now == "" || now == start { // a number is not given again while a group has it
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// endInit kills the process that the file names and waits until it is gone. Without a file no command was ever run.
func endInit(ctx context.Context, file string) error {
	text, _ := os.ReadFile(file)
	number, start, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return nil // the server did not get as far
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil // gone
	}
	defer unix.Close(fd)
	if start == "" || startTime(pid) != start { // the number is another's by now
		return nil
	}
	return end(ctx, fd)
}

// endGroup kills what lives in a cgroup, which nothing else names if the runtime folder has been deleted, and removes
// the cgroup. What has no number here, a process of another namespace, stays, and its cgroup with it. The cgroup of one
// that has just ended may stay until the next look.
func endGroup(ctx context.Context, dir string) error {
	if syscall.Rmdir(dir) == nil {
		return nil
	}
	for _, pid := range members(dir) {
		if err := endMember(ctx, dir, pid); err != nil {
			return err
		}
	}
	_ = syscall.Rmdir(dir)
	return nil
}

// endMember kills a process of the cgroup and waits until it is gone.
func endMember(ctx context.Context, dir string, pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil // gone
	}
	defer unix.Close(fd)
	if !slices.Contains(members(dir), pid) { // the number is another's by now
		return nil
	}
	return end(ctx, fd)
}

// members are the processes of a cgroup.
func members(dir string) []int {
	var out []int
	list, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for line := range bytes.FieldsSeq(list) {
		if pid, err := strconv.Atoi(string(line)); err == nil && pid > 1 {
			out = append(out, pid)
		}
	}
	return out
}

// end kills a process and waits until it is gone.
func end(ctx context.Context, fd int) error {
	_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	for ctx.Err() == nil {
		if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10); n > 0 {
			return nil
		}
	}
	return ctx.Err()
}

// startTime is when a process began, in the kernel's ticks; "" if there is none of this number.
func startTime(pid int) string {
	if f := statFields(pid); len(f) > 19 {
		return string(f[19])
	}
	return ""
}

// serverGone reports whether a process has ended or is about to, although nobody may have asked how. By the time when
// its locks on files are free it is.
func serverGone(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	f := statFields(pid)
	if len(f) < 7 {
		return false
	}
	flags, _ := strconv.ParseUint(string(f[6]), 10, 64)
	return f[0][0] == 'Z' || f[0][0] == 'X' || flags&exiting != 0
}

// statFields are those of /proc/pid/stat after the name, which may contain anything.
func statFields(pid int) [][]byte {
	data := readAt(unix.AT_FDCWD, fmt.Sprintf("/proc/%d/stat", pid))
	return bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
}
