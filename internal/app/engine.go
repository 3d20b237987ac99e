package app

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/buses/nats"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	addedmodels "github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/feature/runsecrets"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/feature/webhook"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/metrics"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// engine is what carries out the runs of one process. Its parts, in parts.go, set the fields from top to bottom.
type engine struct {
	cfg     *config.Config // that the process began with
	options cli.Options
	own     App // what the program that embeds this one brings along
	log     *slog.Logger
	dir     string
	disk    userdata.Disk // what dir has of users
	shared  bool          // other processes work on the store too
	// commands says that it answers commands of the terminal, and carries out no runs.
	commands bool
	shares   shares
	watch    *watch
	callers  gateway.Tokens // their named tokens; nil is none
	running  parts          // what has been started
	asked    *client.Client // of the routes; nil until a command asks them

	store     database.Store
	audit     *audit.Log
	box       box
	kit       *toolbox.Kit // what the sandboxes show beside
	pool      *pool.Pool
	reaped    atomic.Bool              // nothing is left of killed servers, and no other can be killed
	current   atomic.Pointer[settings] // for the runs that begin
	reloading sync.Mutex
	secrets   *secrets.Secrets
	given     *runsecrets.Secrets // what requests give their runs
	added     *addedmodels.Models // nil in a replay
	stale     atomic.Bool         // the settings are older than the models that were added
	tests     chan struct{}       // room for tests of models
	guard     *outgoing.Guard     // of the tools' calls
	schema    state.Schema        // every channel that a thread can have
	agents    *agents.Folder
	skills    *skills.Skills
	album     *picture.Album
	history   *filehistory.History // of the threads' files
	calls     *calls.Calls
	bus       bus.Bus // to other processes; nil if there is no way to them
	hub       *follow.Hub
	news      *news.Hub
	manager   *runs.Manager
	jobs      *job.Runner
	release   func() // gives up the lease

	shown    *cli.Session     // to who has started the server
	hangups  <-chan os.Signal // ask for a reload
	sections map[string]any   // of the program, as the file had them at the start
	doors    edges
	serving  sync.WaitGroup // the doors
	halt     func()         // ends the server
	// report and webhooks tell of the ends of runs; they are there once the server listens.
	report   func(ctx context.Context, run store.Run) ([]byte, error)
	webhooks *webhook.Caller
}

// newEngine is an engine that has not begun anything.
func (a App) newEngine(cfg *config.Config, dir string, o cli.Options) (*engine, error) {
	e := &engine{
		cfg: cfg, options: o, own: a, log: cmp.Or(a.Log, slog.Default()), dir: dir, disk: userdata.New(dir),
		shared: isShared(cfg, o),
		watch:  &watch{log: slog.New(slog.DiscardHandler), metrics: metrics.New()},
		agents: agents.NewFolder(dir), album: picture.NewAlbum(0), tests: make(chan struct{}, testsAtOnce),
	}
	e.own.Inside = []agent.Middleware{toolWatch{e.watch.metrics}}
	if err := a.check(cfg); err != nil {
		return nil, err
	}
	var err error
	e.shares, err = sharesOfProcess()
	return e, err
}

// assemble makes an engine and starts what runs need. The lease on the runs of the store is taken.
func (a App) assemble(ctx context.Context, cfg *config.Config, dir string, o cli.Options) (*engine, error) {
	e, err := a.newEngine(cfg, dir, o)
	if err != nil {
		return nil, err
	}
	if err := e.start(ctx, e.forRuns()); err != nil {
		return nil, err
	}
	return e, nil
}

// start starts parts, which close will stop.
func (e *engine) start(ctx context.Context, more parts) error {
	err := more.start(ctx)
	if err == nil {
		e.running = append(e.running, more...)
	}
	return err
}

// close stops what was started.
func (e *engine) close() error {
	if e.asked != nil {
		e.asked.Close() // who answers it works until then
	}
	ps := e.running
	e.running = nil
	return ps.stop(context.Background())
}

func (e *engine) openDatabase(ctx context.Context) (err error) {
	e.store, err = openStore(ctx, e.cfg, e.options, e.dir, e.options.ReadOnly)
	if err == nil {
		e.skills = e.newSkills()
	}
	return err
}

func (e *engine) closeDatabase(context.Context) error { return e.store.Close() }

func (e *engine) openAudit(context.Context) error {
	if !e.options.ReadOnly {
		e.audit = audit.New(e.store, e.log, e.watch.metrics.AuditLost)
	}
	return nil
}

func (e *engine) closeAudit(ctx context.Context) error {
	e.audit.Close(ctx)
	return nil
}

func (e *engine) openSecrets(context.Context) (err error) {
	e.secrets, err = secrets.Open(e.dir, e.cfg.Env.Get(secrets.Variable))
	if e.commands && e.secrets != nil {
		err = nil // of a key that cannot be read: who needs it reads it again
	}
	if err == nil {
		e.added, e.given = addedmodels.New(e.store, e.secrets), runsecrets.New(e.store, e.secrets)
	}
	return err
}

// forWebhook is the purpose of the sealed URLs of webhooks.
const forWebhook = "webhook"

func (e *engine) seal(u access.User, url string) (string, error) {
	return e.secrets.For(u).Seal(forWebhook, url)
}

// unseal also takes a URL that an older version has stored as it is.
func (e *engine) unseal(u access.User, text string) (string, error) {
	if !secrets.Sealed(text) {
		return text, nil
	}
	return e.secrets.For(u).Open(forWebhook, text)
}

func (e *engine) openOutgoing(context.Context) error {
	e.guard = outgoing.New(outgoing.Config{})
	return nil
}

func (e *engine) closeOutgoing(context.Context) error {
	e.guard.Close()
	return nil
}

func (e *engine) openSandboxes(ctx context.Context) error {
	if e.box = (box{limits: sandboxLimits(e.cfg)}); !e.commands {
		e.box = openSandbox(ctx, e.cfg, e.own.Sandbox)
	}
	e.kit = toolbox.NewKit(newToolbox(e.cfg, e.dir, e.log), e.box.target, e.log)
	history := historyConfig(e.cfg)
	history.Quota, history.Watch, history.Log = e.box.limits.Disk, e.watch.metrics, e.log
	e.history = filehistory.New(history)
	e.pool = pool.New(pool.Config{Provider: e.box.provider, Max: e.shares.boxes, Observe: e.watch.metrics.CommandRun})
	return nil
}

func (e *engine) closeSandboxes(context.Context) error {
	err := e.pool.Close()
	e.kit.Close()
	return err
}

// openBus connects to the other processes by NATS; without a URL there is no bus.
func (e *engine) openBus(ctx context.Context) error {
	if e.options.NATS == "" {
		return nil
	}
	b, err := nats.Open(ctx, nats.Config{URL: e.options.NATS, Logger: e.log})
	if err == nil {
		e.bus = b // not the nil of another type
	}
	return err
}

func (e *engine) closeBus(context.Context) error {
	if e.bus == nil {
		return nil
	}
	return e.bus.Close()
}

func (e *engine) openHub(context.Context) error {
	owner := newOwner()
	e.news = news.NewHub(news.Config{Store: e.store, Bus: e.bus, Shared: e.shared, Log: e.log})
	e.hub = follow.New(follow.Config{Store: e.store, Bus: e.bus, Owner: owner})
	e.manager = runs.NewManager(runs.Config{
		Store: e.store, Build: e.build, Owner: owner, Schema: e.schema, Log: e.log, Bus: e.bus,
		Delete: e.deleteWithRun, Notify: e.notify,
		Seal: e.seal, Unseal: e.unseal, KeepSecrets: e.keepSecrets, Watch: e.watch, Room: e.room,
		Parallel:  e.shares.runs,
		LeaseLost: func(why error) { e.jobs.LeaseLost(why) },
		Feed:      func(run store.Run) runs.Feed { return e.hub.Own(run) },
		Events:    e.own.Events, ThreadMetadata: gateway.ThreadMetadata,
	})
	kinds, err := e.kinds()
	if err != nil {
		e.hub.Close()
		return err
	}
	e.jobs = job.New(job.Config{Store: e.store, Owner: owner, Kinds: kinds, Log: e.log,
		Observe: e.watch.metrics.JobTried})
	return nil
}

func (e *engine) closeHub(context.Context) error {
	e.hub.Close()
	return nil
}

func (e *engine) openRuns(ctx context.Context) (err error) {
	e.release, err = e.manager.KeepLease(ctx)
	return err
}

func (e *engine) closeRuns(context.Context) error {
	e.release()
	return nil
}

// session is the program as the commands see it.
func (e *engine) session(notes []string) *cli.Session {
	m := e.now().model
	s := &cli.Session{
		Runner: runner{e, access.Default()}, List: e.mine(), Store: e.mine(), UserID: access.Default().ID(),
		Notes: append(append(notes, e.box.notes...), e.now().notes...),
		Model: m.name(), Why: m.why, NoModel: m.missing,
		Sandbox: e.box.name, Data: e.dir, Questions: e.questions, Create: e.mine().CreateThread, API: e.api(),
		Close: e.close,
	}
	if e.box.off == "" {
		s.Toolbox = e.kit
	}
	if m.entry.IsDemo() {
		s.Demo = demo()
	}
	return s
}

func (e *engine) questions(ctx context.Context, threadID string) ([]event.Interrupt, error) {
	at, err := e.manager.For(access.Default()).Snapshot(ctx, threadID, "")
	return at.Questions, err
}

// deleteThread removes a thread with its files and its sandbox, as its store says.
func (e *engine) deleteThread(ctx context.Context, u access.User, id string) error {
	return removeThread(ctx, e.store.For(u), e.disk, id, e.pool.Drop)
}

// deleteWithRun removes a thread that goes with the end of its run.
func (e *engine) deleteWithRun(ctx context.Context, u access.User, id string) error {
	err := e.deleteThread(ctx, u, id)
	if err == nil {
		by := access.Principal{User: u, Via: "end of its run"}
		e.audit.Record(ctx, audit.Of(by, audit.Delete, "thread", id))
	}
	return err
}

// mine is what the user of the commands has.
func (e *engine) mine() store.UserData { return e.store.For(access.Default()) }

// upload keeps an uploaded file of a user's thread.
func (e *engine) upload(ctx context.Context, user access.User, threadID, name string, content io.Reader,
	limit int64) error {
	files, err := e.files(ctx, user, threadID)
	if err != nil {
		return err
	}
	defer files.Close()
	if _, err = files.WriteFrom(sandbox.Uploads+"/"+name, content, limit); err == nil {
		e.note(ctx, user, threadID, filehistory.ByUpload, sandbox.Uploads+"/"+name)
	}
	return err
}
