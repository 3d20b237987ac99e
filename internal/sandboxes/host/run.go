package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

const (
	// drain is how long Run waits for output after the shell's end when processes in the background may write more.
	drain = 200 * time.Millisecond
	// drainEnded is the same when there are none, so that the end of the output is near.
	drainEnded = 2 * time.Second
	// argMax is the longest script that is passed as an argument; the kernel's bound is 128 KiB.
	argMax = 100 << 10
)

// Run implements [sandbox.Sandbox].
func (b *box) Run(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	if err := errors.Join(cmd.Check(), ctx.Err()); err != nil {
		return sandbox.Result{}, fmt.Errorf("run command: %w", err)
	}
	mark, ok := b.begin()
	if !ok {
		return sandbox.Result{}, fmt.Errorf("run command: %w", sandbox.ErrClosed)
	}
	defer b.runs.Done()
	began := time.Now()
	res, err := b.run(ctx, cmd, mark)
	res.Duration = time.Since(began)
	if err != nil {
		return res, fmt.Errorf("run command: %w", err)
	}
	return res, nil
}

func (b *box) run(ctx context.Context, cmd sandbox.Command, mark uint64) (sandbox.Result, error) {
	b.spec.Mend()
	dir := translate(cmp.Or(cmd.Dir, sandbox.Workspace), b.in)
	if _, err := os.Stat(dir); err != nil {
		if cmd.Stderr != nil {
			fmt.Fprintf(cmd.Stderr, "bash: cannot change to the folder %s\n", cmd.Dir)
		}
		return sandbox.Result{Exit: 1}, nil
	}
	args, remove, err := b.argv(cmd.Script, mark)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer remove()
	c := exec.Command("bash", args...) //nolint:noctx // await ends it, with all its children
	c.Dir, c.Env = dir, append(slices.Clone(b.env), cmd.Secrets...)
	for _, variable := range cmd.Env {
		c.Env = append(c.Env, translate(variable, b.in))
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	b.keeper.give(c)
	ends, err := b.connect(c, cmd.Stdout, cmd.Stderr)
	if err != nil {
		return sandbox.Result{}, err
	}
	if err := c.Start(); err != nil {
		ends.close()
		return sandbox.Result{}, err
	}
	ends.close()
	exited := make(chan struct{})
	go func() {
		_ = c.Wait() // ProcessState tells how it ended
		close(exited)
	}()
	res, err := b.await(ctx, c, cmd.Timeout, mark, exited)
	patience := drainEnded
	if res.Background > 0 {
		patience = drain
	}
	ends.await(patience)
	return res, err
}

// argv marks the shell and all its children, and puts the script where its length allows.
func (b *box) argv(script string, mark uint64) (args []string, remove func(), err error) {
	args = []string{"--norc", "--noprofile"}
	script = b.keeper.admission(mark) + translate(script, b.in)
	if len(script) <= argMax {
		return append(args, "-c", script, "bash"), func() {}, nil
	}
	f, err := os.CreateTemp("", "pudu-script-")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	remove = func() { os.Remove(f.Name()) }
	if _, err := f.WriteString(script); err != nil {
		remove()
		return nil, nil, err
	}
	return append(args, f.Name()), remove, nil
}

func (b *box) await(ctx context.Context, c *exec.Cmd, timeout time.Duration, mark uint64,
	exited <-chan struct{}) (sandbox.Result, error) {
	timer := time.NewTimer(cmp.Or(timeout, sandbox.DefaultTimeout))
	defer timer.Stop()
	killed := sandbox.Result{Exit: 137}
	var err error
	select {
	case <-exited:
		return sandbox.Result{Exit: exitCode(c.ProcessState), Background: countMarked(mark)}, nil
	case <-timer.C:
		killed.TimedOut = true
	case <-ctx.Done():
		err = ctx.Err()
	case <-b.closed:
		err = sandbox.ErrClosed
	}
	killMarked(mark, mark, c.Process.Pid)
	<-exited
	return killed, err
}

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// streams are the pipes of one command.
type streams struct {
	child []*os.File
	done  []chan struct{}
}

// connect gives the command pipes whose output is masked. Both outputs share one if they go to the same writer.
func (b *box) connect(c *exec.Cmd, stdout, stderr io.Writer) (*streams, error) {
	s := &streams{}
	if stdout != nil {
		w, err := b.pipe(s, stdout)
		if err != nil {
			return nil, err
		}
		c.Stdout = w
	}
	switch {
	case stderr == nil:
	case stdout != nil && reflect.TypeOf(stderr).Comparable() && stdout == stderr:
		c.Stderr = c.Stdout
	default:
		w, err := b.pipe(s, stderr)
		if err != nil {
			s.close()
			return nil, err
		}
		c.Stderr = w
	}
	return s, nil
}

func (b *box) pipe(s *streams, to io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	s.child, s.done = append(s.child, w), append(s.done, done)
	b.streams.Go(func() {
		defer close(done)
		defer r.Close()
		m := &masker{to: to, pairs: b.out}
		_, _ = io.Copy(struct{ io.Writer }{m}, r) // what the writer refuses is lost, as with a closed pipe
		m.flush()
	})
	return w, nil
}

func (s *streams) close() {
	for _, f := range s.child {
		f.Close()
	}
}

func (s *streams) await(patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for _, done := range s.done {
		select {
		case <-done:
		case <-timer.C:
			return
		}
	}
}
