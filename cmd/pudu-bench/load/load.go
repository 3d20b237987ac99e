// Package load measures a server of the LangGraph API under load: `pudu-bench serve`. It brings the model along, a
// server on loopback that answers by plan ([Model]), starts a Pudu or takes the address of any other server, and prints
// each figure beside the same model calls made directly: same requests, same streaming, same concurrency, one after the
// other on the same machine, to the same model in a process of its own. What slows the machine down slows both.
//
// One file per measurement: runs, streams, tokens, memory, recovery. [Groups] lists them.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// Config says what is measured. Only Out, Player, and Server or URL are needed.
type Config struct {
	// URL is the server to measure, with a prefix if it has one, such as http://127.0.0.1:2026/api/langgraph. It must use
	// the model server. Empty starts a server of our own for each measurement, on an empty data folder.
	URL string
	// PID is the process of the server at URL, for its memory and processor time; 0 means unknown.
	PID int
	// Player is the command of the model server, to which --addr, --tool and --tool-args are appended as Model says.
	Player []string
	// Server is the command of our own server, to which --addr, --data, --config and --database are appended. ServerConfig
	// are more lines for its config.yaml. Database is a PostgreSQL URL; empty means SQLite in the data folder.
	Server       []string
	ServerConfig string
	Database     string
	// Dir is where data folders are made; empty means the system's temporary folder.
	Dir string
	// Assistant is the agent to run; default lead_agent. Header goes with each request.
	Assistant string
	Header    http.Header
	// Model is the model server.
	Model ModelConfig
	// Only are the names of the measurements, of [Groups]; empty means all.
	Only []string
	// Quick measures less of everything: about 20 s.
	Quick bool
	// Steps and Clients are the numbers of tool steps and of clients of the runs; empty means the usual ones.
	Steps, Clients []int
	// Wait uses runs/wait instead of a stream for the runs.
	Wait bool
	// JSON prints a JSON object per line and figure instead of a table.
	JSON bool
	Out  io.Writer
	// Note gets what a user should know besides; nil means nobody.
	Note func(text string)
}

// ErrMissed says that a goal was missed that means the same on every machine.
var ErrMissed = errors.New("missed")

// group is one measurement.
type group struct {
	name  string
	about string
	// own needs a server that can be started and killed here.
	own     bool
	measure func(b *bench, ctx context.Context) error
}

func groups() []group {
	return []group{
		{"runs", "runs on new threads, each client starts its next when one has ended", false, (*bench).runs},
		{"streams", "live runs that stream a token every 20 ms", false, (*bench).streams},
		{"tokens", "one answer as fast as it comes", false, (*bench).tokens},
		{"memory", "start, and the memory of a server", true, (*bench).memory},
		{"recovery", "kill -9 with 50 runs under way, and start again", true, (*bench).recovery},
	}
}

// Groups are the names of the measurements, in their order.
func Groups() []string {
	var names []string
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return names
}

// bench is what the measurements share.
type bench struct {
	Config

	model    *player
	report   *report
	launcher launcher
	direct   *http.Client // of the direct calls
	sizes    sizes
}

// Run measures and prints. The error is [ErrMissed] when a goal of our own server was missed that means the same on every
// machine; times and memory are only marked, since the machine may be slow. An error of a measurement ends it.
func Run(ctx context.Context, c Config) ([]Figure, error) { return run(ctx, c, c.sizes()) }

func run(ctx context.Context, c Config, n sizes) (figures []Figure, err error) {
	if c.Assistant == "" {
		c.Assistant = "lead_agent"
	}
	if c.Note == nil {
		c.Note = func(string) {}
	}
	for _, name := range c.Only {
		if !slices.Contains(Groups(), name) {
			return nil, fmt.Errorf("there is no measurement %q: choose of %s", name, strings.Join(Groups(), ", "))
		}
	}
	raiseFileLimit()
	b := &bench{Config: c, report: &report{out: c.Out, json: c.JSON}, direct: newHTTPClient(), sizes: n}
	defer b.direct.CloseIdleConnections()
	if b.model, err = startPlayer(ctx, c.Player, c.Model, c.Dir, b.direct); err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, b.model.process.alive())
		b.model.process.kill()
	}()
	b.launcher = launcher{command: c.Server, database: c.Database, config: c.ServerConfig, modelURL: b.model.url, http: b.direct}
	if c.Database == "" {
		b.launcher.database = "sqlite"
	}
	c.Note("The model is at " + b.model.url + ".")
	err = b.all(ctx)
	if err == nil && b.report.missed > 0 && c.URL == "" {
		err = fmt.Errorf("%w: %d of the goals that hold on every machine", ErrMissed, b.report.missed)
	}
	return b.report.figures, err
}

func (b *bench) all(ctx context.Context) error {
	for _, g := range groups() {
		if len(b.Only) > 0 && !slices.Contains(b.Only, g.name) {
			continue
		}
		if g.own && b.URL != "" {
			if slices.Contains(b.Only, g.name) {
				return fmt.Errorf("measure %s: only a server that is started here can be measured so: leave out --url", g.name)
			}
			continue
		}
		b.report.title(g.name, g.about)
		if err := g.measure(b, ctx); err != nil {
			return fmt.Errorf("measure %s: %w", g.name, err)
		}
	}
	return nil
}

// subject is the server that is measured.
type subject struct {
	client     *client
	directHTTP *http.Client
	process    *process // nil for a server that was not started here
	pid        int
	close      func() error
}

// open starts a server on an empty folder, or takes the one at URL, and tries it with one run.
func (b *bench) open(ctx context.Context) (*subject, error) {
	s := &subject{client: b.newClient(b.URL), directHTTP: b.direct, pid: b.PID}
	s.close = func() error {
		s.client.http.CloseIdleConnections()
		return nil
	}
	if b.URL == "" {
		dir, err := os.MkdirTemp(b.Dir, "pudu-load-")
		if err != nil {
			return nil, err
		}
		p, err := b.launcher.start(ctx, dir)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		s.process, s.pid, s.client.base = p, p.cmd.Process.Pid, p.url
		s.close = func() error {
			s.client.http.CloseIdleConnections()
			err := p.alive()
			p.kill()
			return errors.Join(err, os.RemoveAll(dir))
		}
	}
	if err := s.try(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("try one run: %w", err), s.close())
	}
	return s, nil
}

func (b *bench) newClient(base string) *client {
	return &client{http: newHTTPClient(), base: strings.TrimSuffix(base, "/"), assistant: b.Assistant, header: b.Header}
}

// try does one run. A server that does not create threads with a run gets a call of its own for that.
func (s *subject) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := s.client.stream(ctx, Plan{})
	var refused *statusError
	if errors.As(err, &refused) && (refused.status == http.StatusNotFound || refused.status == http.StatusUnprocessableEntity) {
		s.client.makeThreads = true
		if _, again := s.client.stream(ctx, Plan{}); again != nil {
			return errors.Join(err, again)
		}
		return nil
	}
	return err
}
