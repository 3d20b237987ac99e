package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/access/bearer"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/feature/webhook"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/metrics"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// headerTimeout bounds the reading of a request's head, idleTimeout the life of a connection without requests.
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// drainTimeout bounds the wait for requests under way when the server stops. Streams end at once.
	drainTimeout = 5 * time.Second
	// maxHeader bounds the head of a request, in bytes.
	maxHeader = 64 << 10
)

// listening says how the server is reached. An address that others can reach needs a token, or the word that it is
// meant.
func listening(cfg *config.Config, o cli.Options, tokens *bearer.File) (config.Server, error) {
	s, err := cfg.ChooseServer(o.Addr, o.NATS)
	if err != nil {
		return s, err
	}
	if !s.Local() && s.Token == "" && !tokens.Required() && !o.Insecure {
		return s,
			fmt.Errorf("%s can be reached from other machines, and whoever reaches Pudu has it run code: set "+
				"PUDU_TOKEN to a "+
				"secret that callers send as \"Authorization: Bearer ...\", make one with pudu token add NAME, or say "+
				"--insecure", s.Addr)
	}
	return s, nil
}

// listen opens the address, and the socket in the data folder, and puts the gateway behind them; answer has it answer.
func (e *engine) listen(ctx context.Context, server config.Server) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, networkOf(server.Addr), server.Addr)
	if err != nil {
		return fmt.Errorf("listen at %s (another address: --addr HOST:PORT): %w", server.Addr, err)
	}
	s := e.shown
	s.Address, s.Token = "http://"+l.Addr().String(), server.Token != "" || e.callers != nil && e.callers.Required()
	s.Examples = e.examples(s.Address, s.Token)
	c := e.gatewayConfig(s, server)
	g := e.newGateway(c, server.Webhooks)
	e.shares.tell(e.log)
	e.doors = edges{e.newEdge(c, g, netutil.LimitListener(l, e.shares.connections))}
	if e.shared { // pudu run works on the database by itself
		return nil
	}
	socket, err := client.Listen(ctx, e.dir)
	if err != nil {
		return errors.Join(fmt.Errorf("listen in the data folder: %w", err), l.Close())
	}
	c = behindSocket(c, socketVia)
	d := e.newEdge(c, gateway.New(c), socket)
	d.http.Handler = e.withOperator(d.http.Handler, operator(socketVia))
	e.doors = append(e.doors, d)
	return nil
}

// closeListeners gives up the addresses, for a server that has not begun to answer; later the gateway has done so.
func (e *engine) closeListeners(context.Context) error {
	for _, d := range e.doors {
		_ = d.listener.Close()
	}
	return nil
}

// newGateway makes the gateway, and what tells of the ends of runs.
func (e *engine) newGateway(c gateway.Config, webhooks []netip.Prefix) *gateway.Server {
	g := gateway.New(c)
	e.report, e.webhooks = g.Report, webhook.New(outgoing.New(outgoing.Config{Allow: webhooks}))
	return g
}

// answer begins to serve what has come to the listeners. The server ends when one fails.
func (e *engine) answer(context.Context) error {
	for _, d := range e.doors {
		e.serving.Go(func() {
			if err := d.serve(); err != nil {
				e.log.Error("a listener has failed", "error", err)
				e.halt()
			}
		})
	}
	return nil
}

func (e *engine) closeGateway(context.Context) error {
	e.doors.close()
	e.serving.Wait()
	return nil
}

// socketVia is how the audit log names who comes by the socket in the data folder.
const socketVia = "command line socket"

// behindSocket is the gateway for the user of this machine whose folder it is: nobody else can open the socket. via is
// how he comes in. Files that are uploaded are copied from one folder to another.
func behindSocket(c gateway.Config, via string) gateway.Config {
	const most = 512 << 20
	browsers := c.Guard
	c.Browsers = &browsers
	c.Guard, c.Via = gateway.Guard{Open: true}, via
	c.Limits.Upload, c.Limits.Uploads = most, most
	return c
}

// networkOf keeps 0.0.0.0 to what it says: every IPv4 address of this machine, and no IPv6 address beside them.
func networkOf(addr string) string {
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// edge is a listener with what answers behind it.
type edge struct {
	gateway  *turns
	config   gateway.Config
	http     *http.Server
	listener net.Listener
}

func (e *engine) newEdge(c gateway.Config, g *gateway.Server, l net.Listener) *edge {
	all := &turns{before: e.refresh}
	all.set(g)
	return &edge{gateway: all, config: c, listener: l, http: &http.Server{
		Handler: all, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(e.log.Handler(), slog.LevelWarn),
	}}
}

func (e *edge) serve() error {
	if err := e.http.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// close ends streams and waits, and lets other requests come to their end.
func (e *edge) close() {
	e.gateway.stop()
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	if err := e.http.Shutdown(ctx); err != nil {
		_ = e.http.Close() // what is left is cut off
	}
}

// edges are all that the server listens at.
type edges []*edge

func (es edges) close() {
	var closing sync.WaitGroup
	for _, d := range es {
		closing.Go(d.close)
	}
	closing.Wait()
}

// gatewayConfig is the gateway of this engine.
func (e *engine) gatewayConfig(s *cli.Session, server config.Server) gateway.Config {
	c := gateway.Config{
		Manager: e.manager, Hub: e.hub, Store: e.store, Items: items.New(e.store), Assistants: assistants.New(e.store),
		Folders: folders.New(e.store), Searches: search.New(e.store, nil), Sessions: session.New(e.store),
		Jobs: job.NewQueue(e.store), Audit: e.audit, Agents: e.agents, Approvals: approval.NewGrants(e.store),
		FolderFiles: e.folderFiles, FolderQuota: e.box.limits.OrDefault().Disk, DeleteFolder: e.deleteFolder,
		Files: e.files, FileHistory: e.pastOf, Makers: e.makers, Links: threadfiles.NewLinks(e.secrets),
		DeleteThread: e.deleteThread, User: access.Default(),
		Histories: history.New(e.store), Calls: e.calls, Record: e.recorded, CloneFiles: e.cloneFiles,
		News: e.news, Keeper: e.keeper(), Toolbox: e.kit,
		Answers: e.answers, Bin: e.bin(), Memory: e.memory(), Told: e.knew, Skills: e.skills,
		Guard: gateway.Guard{Token: server.Token.Reveal(), Named: e.callers, Open: !server.Local(),
			Origins: server.Origins,
			Proxies: server.Proxies},
		Rates: ratesOf(server.Rates), Log: e.log, Ready: e.ready,
		About: gateway.About{
			Version: e.options.Version, PID: os.Getpid(), Sandbox: s.Sandbox, Notes: s.Notes, Data: e.dir,
			Address: s.Address, Examples: s.Examples, Started: time.Now(),
		},
	}
	c.Metrics, c.Watch = e.watch.metrics.Handler(), e.watch.metrics
	e.watch.metrics.Read(e.figures())
	if e.shared {
		c.About.Data += " and a PostgreSQL"
	}
	e.models(&c)
	return c
}

// ratesOf are the default rates but for those that are set.
func ratesOf(set map[string]int) route.Rates {
	rates := route.DefaultRates()
	for class, n := range set {
		rates[route.Rate(class)] = n
	}
	return rates
}

// models says which models there are, as the present settings have it. The default comes first: clients take that.
func (e *engine) models(c *gateway.Config) {
	std := e.now().model
	c.AgentsOff = !e.now().cfg.AgentsAPI.Enabled
	c.Models, c.About.Model, c.About.Why, c.About.NoModel = nil, std.name(), std.why, ""
	if std.missing != nil {
		c.About.NoModel = std.missing.Error()
	}
	for _, m := range e.now().cfg.Models {
		if m.Err == nil {
			c.Models = append(c.Models, listed(m, m.Name, m.DisplayName, m.ID))
		}
	}
	at := slices.IndexFunc(c.Models, func(m gateway.Model) bool { return m.Name == std.entry.Name })
	switch name := std.name(); {
	case at > 0:
		c.Models = slices.Concat(c.Models[at:at+1], c.Models[:at], c.Models[at+1:])
	case at < 0 && name != "": // from the environment
		c.Models = slices.Insert(c.Models, 0, listed(std.entry, name, name, name))
	}
	if !slices.ContainsFunc(c.Models, func(m gateway.Model) bool { return m.Name == config.Demo }) {
		m := config.DemoModel()
		c.Models = append(c.Models, gateway.Model{Name: m.Name, DisplayName: m.DisplayName, Model: m.ID, Hidden: true})
	}
}

// listed is a model as clients see it.
func listed(m config.Model, name, display, id string) gateway.Model {
	return gateway.Model{
		Name: name, DisplayName: display, Model: id, Description: m.Description,
		Thinking: m.SupportsThinking, ReasoningEffort: m.SupportsReasoningEffort, Vision: m.SupportsVision,
		Window: m.ContextWindow,
	}
}

// notify calls the webhook of a run that has ended.
func (e *engine) notify(ctx context.Context, run store.Run) error {
	req, err := runs.RequestOf(run)
	if err != nil {
		return fmt.Errorf("read the webhook of run %s: %w", run.ID, err)
	}
	url, err := e.manager.Webhook(run, req)
	if err != nil {
		return err
	}
	body, err := e.report(ctx, run)
	if err != nil {
		return fmt.Errorf("report run %s: %w", run.ID, err)
	}
	return e.webhooks.Call(ctx, url, run.ID, body)
}

// figures is where /metrics reads what is so at present.
func (e *engine) figures() metrics.Source {
	return metrics.Source{
		Version: e.options.Version, Runs: e.manager.Stats, Sandboxes: e.pool.Stats, Database: e.store.Stats, Bus: e.bus,
		Queue: func(ctx context.Context) (store.Queue, error) { return e.store.System().Queue(ctx, time.Now()) },
		Jobs:  job.NewQueue(e.store).Counts,
		Disk:  func() (size, free int64, err error) { return diskOf(e.dir) },
	}
}

const (
	// minFree is what a disk must have left for a run to be taken in: the database's log alone may grow by half of it
	// before its next commit fits into the file.
	minFree = 16 << 20
	// readyTimeout bounds the wait for the database's answer.
	readyTimeout = 2 * time.Second
)

// ready reports whether runs can be taken: there is room for them, and the database answers.
func (e *engine) ready(ctx context.Context) error {
	if err := e.room(); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	_, err := e.store.System().Waiting(bounded, time.Now(), 1)
	if bounded.Err() != nil {
		err = fmt.Errorf("%w: no answer within %v", store.ErrUnreachable, readyTimeout)
	}
	if err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	return nil
}

// room reports whether the disk of the data folder has place for another run.
func (e *engine) room() error {
	free, err := freeBytes(e.dir)
	if err != nil || free >= minFree { // what the error is about, the store tells
		return nil //nolint:nilerr // see above
	}
	return fmt.Errorf("%w: %s has %s left, and a run needs %s; free some space", store.ErrDiskFull, e.dir,
		units.Bytes(float64(free)), units.Bytes(minFree))
}
