package load

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/test/server"
)

const startTime = 30 * time.Second

// process is a server that was started here.
type process struct {
	what  string // the server, or another name for it
	cmd   *exec.Cmd
	url   string
	began time.Time
	ready time.Duration // from the start until it said that it is ready
	ended chan struct{} // closed when it has
	out   *server.Output
}

// startProcess starts a server in a folder, and waits until it has said at which address it is ready.
// env is added to the environment.
func startProcess(ctx context.Context, what, dir string, command []string, env ...string) (*process, error) {
	p := &process{what: what, ended: make(chan struct{}), out: server.NewOutput(), began: time.Now()}
	p.cmd = exec.Command(command[0], command[1:]...) //nolint:noctx // it is killed by its owner
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, append(server.Environment(os.Environ()), env...), p.out,
		p.out
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", what, err)
	}
	go func() {
		_ = p.cmd.Wait() // it was killed, or its last lines say why it ended
		close(p.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case p.url = <-p.out.Address():
		p.ready = time.Since(p.began)
		return p, nil
	case <-p.ended:
	case <-ctx.Done():
	}
	err := p.end()
	if err == nil {
		err = fmt.Errorf("the %s told no address: %w; it said:\n%s", what, ctx.Err(), p.out)
	}
	return nil, fmt.Errorf("start %s: %w", what, err)
}

// kill ends the server at once, as kill -9 does, and waits for its end.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// end kills the server. That it has ended by itself is an error, with what it said.
func (p *process) end() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the %s ended by itself (%s); it said:\n%s", p.what, p.cmd.ProcessState, p.out)
	default:
		p.kill()
		return nil
	}
}

// watchMemory looks at the server's memory ten times a second until the returned function is called, which returns the
// most it saw; 0 if it could not look.
func (p *process) watchMemory(ctx context.Context) (stop func() float64) {
	if p == nil {
		return func() float64 { return 0 }
	}
	ctx, cancel := context.WithCancel(ctx)
	most := make(chan float64)
	go func() {
		var peak float64
		for ctx.Err() == nil {
			if rss, err := measure.Memory(p.cmd.Process.Pid); err == nil {
				peak = max(peak, rss)
			}
			sleep(ctx, 100*time.Millisecond)
		}
		most <- peak
	}()
	return func() float64 {
		cancel()
		return <-most
	}
}
