package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	startTime = 30 * time.Second
	pollTime  = time.Millisecond
	tailLines = 20
)

var address = regexp.MustCompile(`http://[^/\s]+:\d+`)

// launcher starts servers of our own.
type launcher struct {
	command  []string // program and arguments; serve's address, data and configuration are appended
	database string
	config   string // more lines of the configuration
	modelURL string
	http     *http.Client
}

// process is a server that was started here.
type process struct {
	what    string // the server, or another name for it
	cmd     *exec.Cmd
	url     string
	started time.Time
	ready   time.Duration // from the start until it said that it is ready
	ended   chan struct{} // closed when it has
	lines   tail
}

// start starts a server on a data folder and waits until it is ready.
func (l *launcher) start(ctx context.Context, dir string) (*process, error) {
	config := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf("models:\n- {name: load, provider: openai, model: load, base_url: %q, api_key: none}\n%s\n", l.modelURL, l.config)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	args := []string{"--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--config", config, "--database", l.database}
	return startProcess(ctx, "server", slices.Concat(l.command, args), dir, l.http)
}

// startProcess starts a server in a folder, and waits until it has told its address and is ready. Errors name it as what says.
func startProcess(ctx context.Context, what string, command []string, dir string, c *http.Client) (*process, error) {
	p := &process{what: what, cmd: exec.Command(command[0], command[1:]...), ended: make(chan struct{})} //nolint:noctx // it is killed by its owner
	p.cmd.Dir, p.cmd.Env = dir, environment()
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", what, err)
	}
	found := make(chan string, 1)
	go p.watch(stderr, found)
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := p.await(ctx, c, found); err != nil {
		p.kill()
		return nil, fmt.Errorf("start %s: %w%s", what, err, p.lines.text())
	}
	return p, nil
}

// environment leaves out what would make this Pudu another one than the measured.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PUDU_") || strings.HasPrefix(v, "DEER_FLOW_") })
}

// watch reads what the server says until it has ended.
func (p *process) watch(stderr io.Reader, found chan<- string) {
	defer close(p.ended)
	r := bufio.NewReader(stderr)
	for told := false; ; {
		line, err := r.ReadString('\n')
		p.lines.add(line)
		if url := address.FindString(line); url != "" && !told {
			found <- url
			told = true
		}
		if err != nil {
			break
		}
	}
	_ = p.cmd.Wait() // it was killed, or its last lines say why it ended
}

// await waits for the address and then until the server is ready.
func (p *process) await(ctx context.Context, c *http.Client, found <-chan string) error {
	select {
	case p.url = <-found:
	case <-p.ended:
		return fmt.Errorf("it ended before it told its address (%s)", p.cmd.ProcessState)
	case <-ctx.Done():
		return fmt.Errorf("it told no address: %w", ctx.Err())
	}
	for path := "/ready"; ; {
		status, err := get(ctx, c, p.url+path)
		switch {
		case err == nil && status == http.StatusOK:
			p.ready = time.Since(p.started)
			return nil
		case err == nil && status == http.StatusNotFound && path == "/ready":
			path = "/ok"
			continue
		case err == nil && status == http.StatusNotFound:
			return errors.New("it has neither /ready nor /ok")
		case ctx.Err() != nil:
			return fmt.Errorf("it did not become ready: %s answers with HTTP %d: %w", path, status, errors.Join(err, ctx.Err()))
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended before it was ready (%s)", p.cmd.ProcessState)
		case <-time.After(pollTime):
		}
	}
}

func get(ctx context.Context, c *http.Client, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.CopyN(io.Discard, resp.Body, 64<<10)
	if err == io.EOF {
		err = nil
	}
	return resp.StatusCode, err
}

// kill ends the server at once, as kill -9 does, and waits for its end.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// alive says that the server has not ended by itself; it is an error that ends in its last words.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the %s ended by itself (%s)%s", p.what, p.cmd.ProcessState, p.lines.text())
	default:
		return nil
	}
}

// tail keeps the last lines of a text.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(line string) {
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, line[:min(len(line), 500)])
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return "; its last words:\n  " + strings.Join(t.lines, "\n  ")
}
