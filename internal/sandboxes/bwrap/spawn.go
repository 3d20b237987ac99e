//go:build linux

package bwrap

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// startTimeout bounds the start of a sandbox, which takes some ten milliseconds.
const startTimeout = 10 * time.Second

// start brings the sandbox up: bwrap with its options, the init, the view of its processes. What fails is explained as
// far as bwrap's own words allow.
func (b *box) start(ctx context.Context, bin string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	mounts, stage, err := b.reachable()
	if err != nil {
		return err
	}
	l, err := b.newLaunch(bin, mounts)
	if err != nil {
		return err
	}
	defer l.closeChildEnds()
	if err := b.spawn(l, stage); err != nil {
		l.closeOwnEnds()
		return unavailable("start bubblewrap", err)
	}
	l.closeChildEnds()
	b.started(l)
	if err := b.awaitReady(ctx, l); err != nil {
		b.killOuter()
		b.ctrl.Close() // what had come too far for that to reach it, ends with this
		<-b.dead
		return diagnose(l.stderr.String(), cause(ctx, err))
	}
	b.tasks.Go(b.readStatus)
	b.tasks.Go(b.watch)
	return nil
}

func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// launch is bwrap about to be started, and the server's ends of its pipes.
type launch struct {
	cmd    *exec.Cmd
	stderr head
	ctrl   *os.File // to the init
	status *os.File // from the init
	info   *os.File // from bwrap
	args   *os.File // to bwrap, which does nothing before it has read all of them
	child  []*os.File

	options string // what is written to args
}

// newLaunch puts the command line together. All options go through a file descriptor: a command line can be read
// from inside. The environment is clean for the same reason.
func (b *box) newLaunch(bin string, mounts []sandbox.Mount) (*launch, error) {
	l := &launch{}
	if err := l.open(b, bin, mounts); err != nil {
		l.closeChildEnds()
		l.closeOwnEnds()
		return nil, err
	}
	return l, nil
}

func (l *launch) open(b *box, bin string, mounts []sandbox.Mount) error {
	stdin, ctrl, err := os.Pipe()
	if err != nil {
		return err
	}
	l.ctrl, l.child = ctrl, append(l.child, stdin)
	status, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	l.status, l.child = status, append(l.child, stdout)
	info, infoW, err := os.Pipe()
	if err != nil {
		return err
	}
	l.info, l.child = info, append(l.child, infoW)

	var extra []*os.File
	add := func(f *os.File) int { extra = append(extra, f); return 2 + len(extra) }
	fd := fds{info: add(infoW)}
	prog, err := seccompProgram()
	if err != nil {
		return unavailable("make the system call filter", err)
	}
	if fd.seccomp, err = l.memFile(add, prog); err != nil {
		return err
	}
	for _, f := range etcFiles {
		n, err := l.memFile(add, []byte(f.text))
		if err != nil {
			return err
		}
		fd.etc = append(fd.etc, n)
	}
	l.options = strings.Join(profile(b.dir, mounts, b.spec.Limits, fd), "\x00") + "\x00"
	argsR, args, err := os.Pipe()
	if err != nil {
		return err
	}
	l.args, l.child = args, append(l.child, argsR)
	//nolint:noctx // a sandbox outlives the call that opens it
	l.cmd = exec.Command(bin, "--args", strconv.Itoa(add(argsR)), "--", "/bin/bash", "--norc", "--noprofile", "-c",
		controller(b.spec.Limits, !b.group.has("memory")), "sandbox")
	l.cmd.Dir = "/"
	l.cmd.Env = []string{"PATH=/usr/bin:/bin"}
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr, l.cmd.ExtraFiles = stdin, stdout, &l.stderr, extra
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: b.who.credential()}
	l.cmd.WaitDelay = closeTimeout // whoever may still hold the pipes then
	return nil
}

// memFile is a file without a name that holds data, for a child to read.
func (l *launch) memFile(add func(*os.File) int, data []byte) (int, error) {
	fd, err := unix.MemfdCreate("pudu", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("make memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memfd")
	l.child = append(l.child, f)
	if _, err := f.Write(data); err != nil {
		return 0, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return 0, err
	}
	return add(f), nil
}

func (l *launch) closeChildEnds() {
	for _, f := range l.child {
		f.Close()
	}
}

func (l *launch) closeOwnEnds() {
	for _, f := range []*os.File{l.ctrl, l.status, l.info, l.args} {
		if f != nil {
			f.Close()
		}
	}
}

// spawn starts the process on a thread of its own, because what decides its cgroup and its view of the host's folders
// is the thread that starts it. A thread that was given other mounts stays for as long as the sandbox: the kernel would
// take its end for the server's and kill the sandbox.
func (b *box) spawn(l *launch, stage []bind) error {
	started := make(chan error, 1)
	b.tasks.Go(func() {
		runtime.LockOSThread()
		if len(stage) > 0 {
			err := setStage(stage, b.who)
			if err == nil {
				err = b.spawnInGroup(l)
			}
			started <- err
			if err == nil {
				<-b.dead
			}
			return // the thread ends with its goroutine
		}
		err := b.spawnInGroup(l)
		if _, stuck := errors.AsType[*stuckError](err); !stuck {
			runtime.UnlockOSThread()
		}
		started <- err
	})
	return <-started
}

// stuckError means that the thread could not get out of the sandbox's cgroup, or back to all processors.
type stuckError struct{ error }

func (b *box) spawnInGroup(l *launch) error {
	dir, err := b.group.join(l.cmd.SysProcAttr)
	if err != nil {
		return err
	}
	if dir != nil {
		defer dir.Close()
	}
	wide := func() error { return nil }
	err = b.group.enter()
	if cpus := b.spec.Limits.CPUs; err == nil && cpus > 0 && !b.group.has("cpu") {
		var undo func() error
		if undo, err = narrow(cpus, len(b.dir)+int(b.dir[len(b.dir)-1])); err == nil {
			wide = undo
		}
	}
	began := false
	if err == nil {
		err = l.cmd.Start()
		began = err == nil
	}
	if err == nil {
		err = b.tell(l)
	}
	back := errors.Join(b.group.leave(), wide())
	if began && (err != nil || back != nil) {
		l.cmd.Process.Kill()
		_ = l.cmd.Wait()
	}
	if back != nil {
		return &stuckError{errors.Join(err, back)}
	}
	return err
}

// tell gives bwrap its options once its number is written down. Before it has them it starts no process, so that a
// server that is killed at any moment leaves none that nobody knows of.
func (b *box) tell(l *launch) error {
	defer l.args.Close()
	if err := b.note(launchFile, l.cmd.Process.Pid); err != nil {
		return fmt.Errorf("note the process of bubblewrap: %w", err)
	}
	_ = l.args.SetWriteDeadline(time.Now().Add(startTimeout)) // a pipe that Go made has deadlines
	if _, err := l.args.WriteString(l.options); err != nil {
		return fmt.Errorf("write the options of bubblewrap: %w", err)
	}
	return nil
}

// started takes over a running bwrap.
func (b *box) started(l *launch) {
	b.cmd, b.ctrl, b.status = l.cmd, l.ctrl, l.status
	go func() {
		_ = b.cmd.Wait() // how bwrap ends says nothing
		close(b.dead)
	}()
}

// awaitReady learns the number of the sandbox's first process from bwrap, and waits for the first word of the init.
func (b *box) awaitReady(ctx context.Context, l *launch) error {
	defer l.info.Close()
	stop := context.AfterFunc(ctx, func() {
		l.info.SetReadDeadline(time.Now())
		l.status.SetReadDeadline(time.Now())
	})
	err := b.hello(l)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	return err
}

func (b *box) hello(l *launch) error {
	var info struct {
		Pid int `json:"child-pid"`
	}
	if err := json.NewDecoder(l.info).Decode(&info); err != nil {
		return fmt.Errorf("read what bubblewrap says: %w", err)
	}
	b.lines = bufio.NewReaderSize(l.status, 256)
	line, err := b.lines.ReadString('\n')
	if err != nil || line != "ready\n" {
		return fmt.Errorf("wait for the shell inside: %w", errors.Join(err, errors.New("it said "+strconv.Quote(line))))
	}
	if b.init, err = unix.PidfdOpen(info.Pid, 0); err != nil {
		b.init = -1
		return fmt.Errorf("open the first process: %w", err)
	}
	if err := b.note(initFile, info.Pid); err != nil {
		return fmt.Errorf("note the first process: %w", err)
	}
	if b.view, err = openView(info.Pid); err != nil {
		return fmt.Errorf("look into the sandbox: %w", err)
	}
	return nil
}

// head keeps the first 4 KiB of what bwrap says and drops the rest.
type head struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *head) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (t *head) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.buf.String())
}
