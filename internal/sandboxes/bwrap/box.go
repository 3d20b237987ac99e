//go:build linux

package bwrap

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

var _ sandbox.Sandbox = (*box)(nil)

// box is one sandbox: a bwrap, the namespaces behind it, and all commands that run there.
type box struct {
	cfg   Config
	spec  sandbox.Spec
	who   identity
	dir   string // the runtime folder
	group *group

	cmd    *exec.Cmd // the outer bwrap
	ctrl   *os.File
	status *os.File
	lines  *bufio.Reader
	init   int // pidfd of the sandbox's first process; when it is gone all are
	view   *view
	disk   *disk
	dead   chan struct{} // closed when bwrap has ended

	mu      sync.Mutex
	closed  bool
	lastID  uint64
	running map[uint64]*command

	wake    chan struct{} // tells the watchdog that there is something to watch
	runs    sync.WaitGroup
	tasks   sync.WaitGroup // reader of the status, watchdog
	streams sync.WaitGroup
	closing sync.Once
}

func newBox(cfg Config, spec sandbox.Spec, who identity, dir string, g *group, held *contents) *box {
	return &box{cfg: cfg, spec: spec, who: who, dir: dir, group: g, init: -1, running: map[uint64]*command{},
		disk: newDisk(spec.Mounts, spec.Limits.Disk, held), wake: make(chan struct{}, 1), dead: make(chan struct{})}
}

// Done is closed when the sandbox has died or was closed.
func (b *box) Done() <-chan struct{} { return b.dead }

func (b *box) isDead() bool {
	select {
	case <-b.dead:
		return true
	default:
		return false
	}
}

// closeTimeout bounds the wait for processes that were killed; only one stuck in the kernel takes longer.
const closeTimeout = 5 * time.Second

// Close kills the first process of the sandbox, with which the kernel kills all others, and waits until it is reaped:
// that is the moment when none is left.
func (b *box) Close() error {
	b.closing.Do(b.close)
	return nil
}

func (b *box) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	if b.cmd != nil {
		b.fail()
		b.awaitEnd(closeTimeout)
		b.killOuter()
		<-b.dead
		b.ctrl.Close()
		b.status.SetReadDeadline(time.Now())
		b.runs.Wait()
		b.tasks.Wait()
		b.status.Close()
		b.awaitStreams(time.Second)
	}
	if b.view != nil {
		b.view.close()
	}
	if b.init >= 0 {
		unix.Close(b.init)
	}
	b.group.remove()
	os.RemoveAll(b.dir)
}

// fail ends a sandbox that is of no more use. Its commands learn of it through dead.
func (b *box) fail() {
	if b.init >= 0 {
		unix.PidfdSendSignal(b.init, unix.SIGKILL, nil, 0)
		return
	}
	b.killOuter()
}

// killOuter kills bwrap and all of its session: one that dies alone while it sets up the first process leaves that
// waiting for ever, with our pipes in its hands.
func (b *box) killOuter() {
	if !b.isDead() { // then its number may be another's
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	}
	b.cmd.Process.Kill()
}

// awaitEnd waits until the first process is gone.
func (b *box) awaitEnd(patience time.Duration) {
	if b.init < 0 {
		return
	}
	end := time.Now().Add(patience)
	for {
		left := time.Until(end)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(b.init), Events: unix.POLLIN}}, int(max(left, 0).Milliseconds()))
		if err != unix.EINTR || n > 0 || left <= 0 {
			return
		}
	}
}

// awaitStreams waits for the readers of outputs, all of which are at their end, unless a writer of the caller hangs.
func (b *box) awaitStreams(patience time.Duration) {
	done := make(chan struct{})
	go func() {
		b.streams.Wait()
		close(done)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// readStatus hands the exit codes to the commands. Code inside could write here too; it would fool only itself.
func (b *box) readStatus() {
	for {
		line, err := b.lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
		if id, exit, waiter, ok := parseStatus(line); ok {
			if c := b.command(id); c != nil {
				c.settle(exit, waiter)
			}
		}
	}
}

// parseStatus reads "<id> <exit> <pid>".
func parseStatus(line []byte) (id uint64, exit, waiter int, ok bool) {
	f := bytes.Fields(line)
	if len(f) != 3 {
		return 0, 0, 0, false
	}
	id, err := strconv.ParseUint(string(f[0]), 10, 64)
	if err != nil {
		return 0, 0, 0, false
	}
	exit, err = strconv.Atoi(string(f[1]))
	if err != nil || exit < 0 || exit > 255 {
		return 0, 0, 0, false
	}
	waiter, err = strconv.Atoi(string(f[2]))
	return id, exit, waiter, err == nil
}

func (b *box) command(id uint64) *command {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running[id]
}

// begun is how many commands there have been.
func (b *box) begun() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lastID
}

func (b *box) commands() []*command {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]*command, 0, len(b.running))
	for _, c := range b.running {
		out = append(out, c)
	}
	return out
}

// send writes a line to the init. A pipe that stays full means that the init does not read any more.
func (b *box) send(id uint64) error {
	b.ctrl.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprintf(b.ctrl, "%d\n", id); err != nil {
		b.fail()
		return fmt.Errorf("%w: its init does not answer: %v", sandbox.ErrClosed, err) //nolint:errorlint // the time-out is the pipe's, not the caller's
	}
	return nil
}
