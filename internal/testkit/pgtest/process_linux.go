package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unprivileged is whom the server runs as when we are root; nil means ourselves.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		gid, gerr := strconv.Atoi(u.Gid)
		if err == nil && gerr == nil {
			return &account{uid, gid}, nil
		}
	}
	return nil, errors.New("it does not run as root, and there is no user postgres or nobody")
}

// command makes a command of the server's account, in a session of its own: a Ctrl-C is for us to pass on.
func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	if !strings.Contains(program, "/") {
		program = filepath.Join(s.bin, program)
	}
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the words are ours, also where to keep a cluster
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.bin + ":/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC",
		"LD_BIND_NOW=1"} // once in the server, not in the process of every session
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.user != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.user.uid), Gid: uint32(s.user.gid)}
	}
	return cmd
}

// watchScript waits for a word. Without one, its owner is dead: it ends the server, if the process of that number still
// is this server, and removes the folder.
const watchScript = `read -r word && exit
dir=$1
pid=$(head -n 1 "$dir/data/postmaster.pid" 2>/dev/null)
ours() { [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$dir/data"; }
ours && kill -QUIT "$pid"
for n in 1 2 3 4 5 6 7 8 9 10; do
	ours || break
	sleep 0.5
done
ours && kill -KILL "$pid"
cd / && rm -rf "$dir"`

// watch starts the watcher.
func (s *Server) watch() error {
	s.watcher = s.command(context.Background(), "/bin/sh", "-c", watchScript, "pudu-pgtest", s.dir)
	pipe, err := s.watcher.StdinPipe()
	if err != nil {
		return err
	}
	s.watched = pipe
	return s.watcher.Start()
}

// dismiss ends the watcher without a deed.
func (s *Server) dismiss() error {
	if s.watcher == nil || s.watcher.Process == nil {
		return nil
	}
	_, err := fmt.Fprintln(s.watched, "bye")
	return errors.Join(err, s.watched.Close(), s.watcher.Wait())
}

// spawn starts the server's process.
func (s *Server) spawn() error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.process = s.command(context.Background(), "postgres", "-D", s.data())
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		s.process = nil
		return err
	}
	return nil
}

// alive is false once the process has ended, also before anybody has waited for it.
func (s *Server) alive() bool { return s.process != nil && running(s.process.Process.Pid) }

// running reports whether there is such a process that is not just waiting to be waited for.
func running(pid int) bool {
	_, state, ok := stat(pid)
	return ok && state != "Z" && state != "X"
}

// stat reads a process's parent and state.
func stat(pid int) (parent int, state string, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // the name before it may hold anything
	if len(fields) < 2 {
		return 0, "", false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, fields[0], err == nil
}

// children lists the processes of a parent.
func children(parent int) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		pid, err := strconv.Atoi(filepath.Base(e))
		if p, _, ok := stat(pid); err == nil && ok && p == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill ends the server and all its processes with SIGKILL, as a machine that loses power does, and returns when they
// are gone, and what they shared of the memory with them. A server that does not run is no error.
func (s *Server) Kill() error {
	if s.process == nil {
		return nil
	}
	pid := s.process.Process.Pid
	syscall.Kill(pid, syscall.SIGSTOP) // it must not start new ones meanwhile
	family := children(pid)
	for _, child := range family {
		syscall.Kill(child, syscall.SIGKILL)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	_ = s.process.Wait() // says that it was killed
	s.process = nil
	return errors.Join(gone(family, 10*time.Second), s.unshare())
}

// unshare removes the segment of System V's shared memory by which a server shows that it runs. It outlives the
// processes, and a system has 4,096. postmaster.pid names it: its key and its id are line 7.
func (s *Server) unshare() error {
	data, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	lines := strings.Split(string(data), "\n")
	if err != nil || len(lines) < 7 {
		return nil //nolint:nilerr // it was killed before it had one
	}
	fields := strings.Fields(lines[6])
	if len(fields) != 2 {
		return nil
	}
	id, err := strconv.Atoi(fields[1])
	if err != nil {
		return nil //nolint:nilerr // not written in full
	}
	if _, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("remove the shared memory %d: %w", id, err)
	}
	return nil
}

// Signal sends a signal to the server and its processes: SIGSTOP makes a server that hangs, SIGCONT ends that.
func (s *Server) Signal(sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if s.process == nil || !ok {
		return fmt.Errorf("signal PostgreSQL: it does not run, or %v is no signal", sig)
	}
	pid := s.process.Process.Pid
	for _, p := range append([]int{pid}, children(pid)...) {
		syscall.Kill(p, number)
	}
	return nil
}

// gone waits until the processes have ended.
func gone(pids []int, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for _, pid := range pids {
		for running(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d does not end", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// shutdown ends a running server in order, within seconds.
func (s *Server) shutdown() error {
	if s.process == nil {
		return nil
	}
	pid := s.process.Process.Pid
	family := children(pid)
	syscall.Kill(pid, syscall.SIGINT) // fast: sessions are ended
	if gone([]int{pid}, 20*time.Second) != nil {
		return s.Kill()
	}
	_ = s.process.Wait()
	s.process = nil
	return gone(family, 10*time.Second)
}

// Stop ends the server and removes its folder. A second call does nothing.
func (s *Server) Stop() error {
	if s.dir == "" {
		return nil
	}
	err := errors.Join(s.Kill(), s.dismiss(), os.RemoveAll(s.dir))
	s.dir = ""
	return err
}
