package realmodel

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/test/server"
)

// lastWords bounds what is shown of what a process printed, in bytes.
const lastWords = 4 << 10

// process is a program that serves, and what it printed.
type process struct {
	cmd   *exec.Cmd
	out   *server.Output
	ended chan struct{} // closed when it has ended
	err   error         // of the end
}

// start starts the program. It ends with this one.
func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, out: server.NewOutput(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// until waits until ready returns nil. The error says what the process printed last.
func (p *process) until(ctx context.Context, ready func() error) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New(p.words())
		case <-ctx.Done():
			return fmt.Errorf("%w\n%s", err, p.words())
		case <-tick.C:
		}
	}
}

// words says whether the process still runs and what it printed last.
func (p *process) words() string {
	state := "runs"
	select {
	case <-p.ended:
		state = fmt.Sprintf("has ended: %v", p.cmd.ProcessState)
	default:
	}
	return fmt.Sprintf("%s %s; its last words:\n%s", p.cmd.Path, state, excerpt.Last(p.out.String(), lastWords))
}

// stop ends the process.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// TestLastWords: a server that dies is not waited for, and the failure says how it died and what it said.
func TestLastWords(t *testing.T) {
	p, err := start(exec.Command("sh", "-c", "echo loading the model; kill -SEGV $$"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	err = p.until(t.Context(), func() error { return errors.New("connection refused") })
	if err == nil || !strings.Contains(err.Error(), "segmentation fault") ||
		!strings.Contains(err.Error(), "loading the model") {
		t.Errorf("error %v", err)
	}
}
