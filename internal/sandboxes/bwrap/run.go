//go:build linux

package bwrap

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// How long Run waits for the last output of a command: of one that left processes behind, and of one that did not.
const (
	drainBackground = 200 * time.Millisecond
	drainEnded      = 2 * time.Second
)

// exitKilled is the exit code of a command that was killed.
const exitKilled = 128 + 9

// sizeSignal is the exit code of a shell killed for writing too large a file.
const sizeSignal = 128 + 25

// command is a command on its way.
type command struct {
	request
	streams []*stream
	begun   time.Time
	ooms    int // OOM kills before it

	once  sync.Once
	ended chan struct{} // its shell has ended

	// Set before ended is closed.
	exit   int
	waiter int // the pid of the subshell that reported

	mu    sync.Mutex
	limit string

	// The watchdog's.
	seen   bool
	absent int
}

func (c *command) settle(exit, waiter int) {
	c.once.Do(func() {
		c.exit, c.waiter = exit, waiter
		close(c.ended)
	})
}

func (c *command) breach(limit string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = cmp.Or(c.limit, limit)
}

func (c *command) breached() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit
}

// Run implements [sandbox.Sandbox].
func (b *box) Run(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	if err := cmd.Check(); err != nil {
		return sandbox.Result{}, fmt.Errorf("run command: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, err
	}
	c, err := b.register(cmd)
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("run command: %w", err)
	}
	defer b.runs.Done()
	defer b.forget(c)
	err = b.begin(c)
	var res sandbox.Result
	if err == nil {
		res, err = b.await(ctx, c)
	}
	for _, s := range c.streams {
		s.release()
	}
	b.drain(c, res.Background)
	above := b.above()
	res.Limit = cmp.Or(c.breached(), b.metLimit(c, res))
	if above {
		res.Limit = cmp.Or(res.Limit, "disk")
	}
	res.Duration = time.Since(c.begun)
	if err != nil {
		return res, fmt.Errorf("run command: %w", err)
	}
	return res, nil
}

func (b *box) register(cmd sandbox.Command) (*command, error) {
	room := b.disk.room()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isDead() {
		return nil, b.gone()
	}
	if b.closed {
		return nil, sandbox.ErrClosed
	}
	b.runs.Add(1)
	b.lastID++
	l := b.spec.Limits
	c := &command{
		request: request{id: b.lastID, cmd: cmd, out: "/dev/null", err: "/dev/null", limits: l,
			room: min(room, l.FileSize)},
		begun: time.Now(), ooms: b.group.oomKills(), ended: make(chan struct{}),
	}
	b.running[c.id] = c
	return c, nil
}

// begin makes the FIFOs and the files of the command and tells the init.
func (b *box) begin(c *command) error {
	b.spec.Mend()
	if err := b.connect(c); err != nil {
		return err
	}
	if c.long() {
		if err := b.writeFile(c.scriptFile(), c.cmd.Script); err != nil {
			return err
		}
	}
	if err := b.writeFile(c.file(), c.text()); err != nil {
		return err
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return b.send(c.id)
}

// connect opens the outputs. When both go to one writer they share a FIFO, so that their order is kept.
func (b *box) connect(c *command) error {
	if w := c.cmd.Stdout; w != nil {
		path, err := b.fifo(c, ".out", w)
		if err != nil {
			return err
		}
		c.out = path
	}
	switch w := c.cmd.Stderr; {
	case w == nil:
	case same(w, c.cmd.Stdout):
		c.err = "&1"
	default:
		path, err := b.fifo(c, ".err", w)
		if err != nil {
			return err
		}
		c.err = path
	}
	return nil
}

func (b *box) fifo(c *command, suffix string, w io.Writer) (string, error) {
	name := c.file() + suffix
	s, err := openStream(filepath.Join(b.dir, name), b.who, w)
	if err != nil {
		return "", err
	}
	c.streams = append(c.streams, s)
	b.streams.Go(s.pump)
	return filepath.Join(insideRun, name), nil
}

// same compares writers; types that cannot be compared differ.
func same(a, b io.Writer) bool {
	return b != nil && reflect.TypeOf(a).Comparable() && a == b
}

func (b *box) writeFile(name, text string) error {
	if err := writeFile(filepath.Join(b.dir, name), text, 0o600, b.who); err != nil {
		return fmt.Errorf("write command: %w", err)
	}
	return nil
}

// forget removes the command's files; what still runs has them open.
func (b *box) forget(c *command) {
	b.mu.Lock()
	delete(b.running, c.id)
	b.mu.Unlock()
	for _, suffix := range []string{"", ".sh", ".out", ".err"} {
		_ = unix.Unlink(filepath.Join(b.dir, c.file()+suffix)) // most commands have not all of them
	}
}

// await waits for the first of: the shell's end, the time-out, cancelling, the sandbox's death.
func (b *box) await(ctx context.Context, c *command) (sandbox.Result, error) {
	timer := time.NewTimer(cmp.Or(c.cmd.Timeout, sandbox.DefaultTimeout))
	defer timer.Stop()
	select {
	case <-c.ended:
		return sandbox.Result{Exit: c.exit, Background: b.leftBy(c)}, nil
	case <-timer.C:
		b.stop(c)
		return sandbox.Result{Exit: exitKilled, TimedOut: true}, nil
	case <-ctx.Done():
		b.stop(c)
		return sandbox.Result{Exit: exitKilled}, ctx.Err()
	case <-b.dead:
		return sandbox.Result{Exit: exitKilled}, b.gone()
	}
}

// gone explains why there is no sandbox any more.
func (b *box) gone() error {
	if b.group.oomKills() > 0 {
		return fmt.Errorf("%w: it died, its memory limit of %d MiB was reached", sandbox.ErrClosed,
			b.spec.Limits.Memory>>20)
	}
	return sandbox.ErrClosed
}

// drain waits for the output that the command wrote before it ended.
func (b *box) drain(c *command, background int) {
	for _, s := range c.streams {
		if background > 0 {
			s.catchUp(drainBackground)
		} else {
			s.finish(drainEnded)
		}
	}
}

// metLimit finds a limit that the kernel enforced while the command ran.
func (b *box) metLimit(c *command, res sandbox.Result) string {
	switch {
	case b.group.oomKills() > c.ooms:
		return "memory"
	case res.Exit == sizeSignal && c.room < b.spec.Limits.FileSize:
		return "disk"
	case res.Exit == sizeSignal:
		return "file size"
	}
	return ""
}
