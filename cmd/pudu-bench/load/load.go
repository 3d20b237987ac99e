// Package load measures a server of the LangGraph API under load: `pudu-bench serve`. It brings the model along, a
// server on loopback that answers by plan ([Model]), starts a Pudu or takes the address of any other server, and prints
// each figure beside the same model calls made directly: same requests, same streaming, same concurrency, one after the
// other on the same machine, to the same model in a process of its own. What slows the machine down slows both.
//
// One file per measurement: runs, streams, tokens, memory, news, recovery. [Groups] lists them.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

// Config says what is measured. Out, Notes, Player, and Server or URL are needed.
type Config struct {
	// URL is the server to measure, with a prefix if it has one, such as http://127.0.0.1:2026/api/langgraph. It must
	// use the model server. Empty starts a server of our own for each measurement, on an empty data folder.
	URL string
	// Player is the command of the model server, to which --addr is appended with ModelAddr, host:port.
	Player    []string
	ModelAddr string
	// Server is the command of our own server, to which --addr, --data, --config and --database are appended.
	Server []string
	// Dir is where data folders are made; empty means the system's temporary folder.
	Dir string
	// Only are the names of the measurements, of [Groups]; empty means all.
	Only []string
	// Quick measures less of everything: about 20 s.
	Quick bool
	// Steps and Clients are the numbers of tool steps and of clients of the runs; empty means the usual ones.
	Steps, Clients []int
	Out            io.Writer
	// Notes gets what a user should know besides.
	Notes io.Writer
}

// MaxClients bounds the clients that make runs.
const MaxClients = 10_000

// ErrMissed says that a goal was missed that means the same on every machine.
var ErrMissed = errors.New("missed")

// group is one measurement.
type group struct {
	name string
	// own needs a server that can be started and killed here.
	own     bool
	measure func(b *bench, ctx context.Context) error
}

func groups() []group {
	return []group{
		{"runs", false, (*bench).runs}, // on new threads, each client starts its next when one has ended
		{"streams", false, (*bench).streams},
		{"tokens", false, (*bench).tokens},
		{"memory", true, (*bench).memory},
		{"news", true, (*bench).news},
		{"recovery", true, (*bench).recovery},
	}
}

// Groups are the names of the measurements, in their order.
func Groups() (names []string) {
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return names
}

// sizes say how much is measured.
type sizes struct {
	// Each pair of clients and steps is measured for window after warm, then the direct calls for directWindow. A
	// window holds many runs of each client, which begin all at once and go in step for a while.
	clients, steps             []int
	warm, window, directWindow time.Duration

	streams      []int // so many live runs
	streamTokens int   // of so many tokens

	longTokens, starts, recoveryRuns, recoveryTokens int

	idle time.Duration // so long a server is left alone

	// so many users read their news while so many clients make runs, so many times
	newsUsers, newsClients, newsRounds int
}

func (c *Config) sizes() sizes {
	n := sizes{
		clients: []int{1, 16, 64, 256}, steps: []int{0, 5, 20},
		warm: 500 * time.Millisecond, window: 2 * time.Second, directWindow: 800 * time.Millisecond,
		streams: []int{10, 50, 100, 250, 500, 1000}, streamTokens: 200,
		longTokens: 20_000, starts: 5, idle: time.Minute, recoveryRuns: 50, recoveryTokens: 150,
		newsUsers: goalUsers, newsClients: 4, newsRounds: 6,
	}
	if c.Quick {
		n.clients, n.steps, n.streams = []int{1, 64}, []int{0, 5}, []int{10, 100}
		n.warm, n.window, n.directWindow = 100*time.Millisecond, 250*time.Millisecond, 100*time.Millisecond
		n.streamTokens, n.starts, n.idle, n.recoveryTokens = 60, 3, 10*time.Second, 60
		n.newsUsers, n.newsRounds = 100, 1
	}
	if len(c.Steps) > 0 {
		n.steps = c.Steps
	}
	if len(c.Clients) > 0 {
		n.clients = c.Clients
	}
	return n
}

// bench is what the measurements share.
type bench struct {
	Config

	sizes sizes
	table measure.Table
	model *player
}

// Run measures and prints. The error is [ErrMissed] when a goal of our own server was missed that means the same on
// every machine; times and memory are only marked, since the machine may be slow. An error of a measurement ends it.
func Run(ctx context.Context, c Config) error {
	_, err := run(ctx, c, c.sizes())
	return err
}

func run(ctx context.Context, c Config, n sizes) (figures []measure.Figure, err error) {
	for _, name := range c.Only {
		if !slices.Contains(Groups(), name) {
			return nil, fmt.Errorf("there is no measurement %q: choose of %s", name, strings.Join(Groups(), ", "))
		}
	}
	b := &bench{Config: c, sizes: n, table: measure.Table{Out: c.Out, Beside: "direct"}}
	p, err := startProcess(ctx, "model server", c.Dir, append(slices.Clip(c.Player), "--addr", c.ModelAddr))
	if err != nil {
		return nil, err
	}
	b.model = &player{url: p.url, http: newHTTPClient()}
	defer func() {
		b.model.http.CloseIdleConnections()
		err = errors.Join(err, p.end())
	}()
	fmt.Fprintln(c.Notes, "The model is at "+p.url+"/v1.")
	err = b.all(ctx)
	if err == nil && b.table.Missed > 0 && c.URL == "" {
		err = fmt.Errorf("%w: %d of the goals that hold on every machine", ErrMissed, b.table.Missed)
	}
	return b.table.Figures, err
}

func (b *bench) all(ctx context.Context) error {
	for _, g := range groups() {
		wanted := slices.Contains(b.Only, g.name)
		if g.own && b.URL != "" && wanted {
			return fmt.Errorf("measure %s: only a server that is started here can be measured so: leave out --url",
				g.name)
		}
		if !wanted && (len(b.Only) > 0 || g.own && b.URL != "") {
			continue
		}
		b.table.Title(g.name)
		if err := g.measure(b, ctx); err != nil {
			return fmt.Errorf("measure %s: %w", g.name, err)
		}
	}
	return nil
}

// subject is the server that is measured.
type subject struct {
	*client

	process *process // nil for a server that was not started here
	dir     string   // of the process
}

// open starts a server on an empty folder, or takes the one at URL, and tries it with one run.
func (b *bench) open(ctx context.Context) (s *subject, err error) {
	s = &subject{client: newClient(b.URL)}
	if b.URL == "" {
		if s.dir, err = os.MkdirTemp(b.Dir, "pudu-load-"); err == nil {
			s.process, err = b.start(ctx, s.dir)
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(s.dir))
		}
		s.base = s.process.url
	}
	ctx, cancel := context.WithTimeout(ctx, oneTimeout)
	defer cancel()
	if _, err := s.run(ctx, Plan{}, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("try one run: %w", err), s.close())
	}
	return s, nil
}

// start starts a server of our own on a data folder.
func (b *bench) start(ctx context.Context, dir string, env ...string) (*process, error) {
	config := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf("models:\n- {name: load, provider: openai, model: load, base_url: %q, api_key: none}\n",
		b.model.url+"/v1")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return startProcess(ctx, "server", dir, append(slices.Clip(b.Server),
		"--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--config", config, "--database", "sqlite"),
		env...)
}

func (s *subject) close() error {
	s.http.CloseIdleConnections()
	if s.process == nil {
		return nil
	}
	return errors.Join(s.process.end(), os.RemoveAll(s.dir))
}

// player is the [Model] as the measurements see it: an address. It runs in a process of its own, as any model does for
// a server and for who calls it directly. In one process with the caller, Go's scheduler would hand a call over from
// one to the other and make it in half the time; the comparison would be with calls that nobody makes.
type player struct {
	url  string // without /v1
	http *http.Client
}
