// Package app puts the program together: it is the only place that constructs stores, models, sandboxes and the
// manager of runs, from the configuration, for the edges that need them.
//
//	flags -> config -> store -> sandbox probe -> model choice -> manager of runs -> Session, or a server of sessions
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/buses/nats"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/feature/webhook"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/metrics"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// App implements cli.App. The zero value works on the process's own environment. Its fields are what a program that embeds
// this one brings along; the package pudu documents them.
type App struct {
	// Tools are offered to every agent beside its own, and Middlewares work at their place in its chain, from which Without
	// names what is left out.
	Tools       []tool.Tool
	Middlewares []agent.Middleware
	Without     []string
	// System is added to the system prompt of every agent.
	System string
	// Model answers where no name is given, and Sandbox opens the sandboxes; nil means those of the configuration.
	Model   model.ChatModel
	Sandbox sandbox.Provider
	// Log is written to; nil means slog.Default().
	Log *slog.Logger
	// Sections are pointers to what the configuration's sections of these names are read into.
	Sections map[string]any
	// Start is called with the data folder before there are runs, and may add to the App; Stop after the last one.
	Start func(ctx context.Context, a *App, dir string) error
	Stop  func(ctx context.Context) error
	// Events sees the events of all runs.
	Events func(run store.Run, ev event.Event)
}

var _ cli.App = App{}

// Open sets everything up for runs. While another process holds the data folder it works through that one, if that listens,
// else it waits.
func (a App) Open(ctx context.Context, o cli.Options) (*cli.Session, error) {
	cfg, dir, notes, err := a.settings(o)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return openReadOnly(ctx, cfg, dir, o)
	}
	h, err := a.assemble(ctx, cfg, dir, o)
	for told := false; errors.Is(err, store.ErrLocked); told = true {
		s, errThere := throughSocket(ctx, cfg, dir, o)
		if !errors.Is(errThere, store.ErrLocked) {
			return s, errThere
		}
		if !told && o.Note != nil {
			o.Note(fmt.Sprintf("waiting for %s, which works on %s (with pudu serve, several can work at once)", holder(dir), dir))
		}
		if err = pause(ctx, lockPause); err == nil {
			h, err = a.assemble(ctx, cfg, dir, o)
		}
	}
	if err != nil {
		return nil, err
	}
	s := h.session(append(notes, h.notes...))
	left, err := h.manager.Unfinished(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if len(left) > 0 {
		s.Notes = append(s.Notes, cli.Count(len(left), "unfinished run")+"; see pudu runs, and go on with pudu run --resume")
	}
	return s, nil
}

// lockPause is how long to wait before the data folder is tried again.
const lockPause = 100 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// settings loads the configuration and finds the data folder.
func (a App) settings(o cli.Options) (*config.Config, string, []string, error) {
	cfg, warnings, err := config.Load(config.LoadOptions{Path: o.Config, Complete: catalog.Complete, Sections: a.Sections})
	if err != nil {
		return nil, "", nil, err
	}
	var notes []string
	for _, w := range warnings {
		notes = append(notes, w.String())
	}
	dir := o.Data
	if dir == "" {
		if dir, err = config.DataDir(cfg.Env, os.Getuid()); err != nil {
			return nil, "", nil, err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", nil, fmt.Errorf("data folder: %w", err)
	}
	return cfg, dir, notes, nil
}

// openReadOnly opens the store for looking, beside a process that may own it.
func openReadOnly(ctx context.Context, cfg *config.Config, dir string, o cli.Options) (*cli.Session, error) {
	st, err := openStore(ctx, cfg, o, dir, true)
	if err != nil {
		return nil, err
	}
	mine := st.For(access.Default())
	s := &cli.Session{List: mine, Store: mine, UserID: access.Default().ID(), Close: st.Close}
	s.Owner = func(ctx context.Context, run store.Run) (string, error) {
		if isShared(cfg, o) {
			return leaseholder(ctx, st, run)
		}
		return holderOf(dir, run), nil
	}
	s.Files = func(t store.Thread) (*sandbox.Files, error) {
		place, err := userdata.New(dir).User(access.FromRow(t.UserID)).Thread(t.ID)
		if err != nil {
			return nil, err
		}
		return place.Open(true)
	}
	s.Messages = func(ctx context.Context, threadID string) ([]message.Message, error) {
		schema, err := lead.Schema(cfg)
		if err != nil {
			return nil, err
		}
		at, err := mine.Checkpoint(ctx, schema, threadID, "")
		return agent.Messages.Get(at.State), err
	}
	return s, nil
}

// house is what the runs of one process share.
type house struct {
	cfg    *config.Config
	dir    string
	disk   userdata.Disk // what dir has of users
	store  store.Store
	model  chosen
	models *modelSet
	box    box
	mounts []sandbox.Mount
	prompt string // of the standard agent
	guards lead.Guards
	schema state.Schema // every channel that a thread can have
	agents *agents.Folder
	album  *picture.Album
	shares shares
	pool   *pool.Pool
	inside []agent.Middleware
	own    App // what the program that embeds this one brings along
	log    *slog.Logger

	bus     bus.Bus // to other processes; nil if there is no way to them
	hub     *follow.Hub
	watch   *watch
	callers gateway.Tokens // their named tokens; nil is none
	manager *runs.Manager
	version string
	// report and webhooks tell of the ends of runs; they are there once the server listens.
	report   func(ctx context.Context, run store.Run) ([]byte, error)
	webhooks *webhook.Caller
	notes    []string
	release  func() // gives up the lease
	// shared: other processes work on the store too.
	shared bool
	reaped atomic.Bool // nothing is left of killed servers, and no other can be killed
}

// assemble opens the store and builds the program around it. The lease on its runs is taken.
func (a App) assemble(ctx context.Context, cfg *config.Config, dir string, o cli.Options) (_ *house, err error) {
	h := &house{
		cfg: cfg, dir: dir, disk: userdata.New(dir), shared: isShared(cfg, o), version: o.Version, own: a, log: cmp.Or(a.Log, slog.Default()),
		watch: &watch{log: slog.New(slog.DiscardHandler), metrics: metrics.New()},
	}
	h.inside = []agent.Middleware{toolWatch{h.watch.metrics}}
	if err := a.check(cfg); err != nil {
		return nil, err
	}
	if h.store, err = openStore(ctx, cfg, o, dir, false); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.store.Close())
		}
	}()
	if err := h.begin(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.end(ctx))
		}
	}()
	h.box = openSandbox(ctx, cfg, a.Sandbox)
	if h.model, err = a.chooseModel(ctx, cfg, o.Model, h.box.demo()); err != nil {
		return nil, err
	}
	h.notes = h.box.notes
	if unread := h.model.unread; len(unread) > 0 {
		h.notes = append(h.notes, fmt.Sprintf("model %s: %s is read but has no effect", h.model.model.Name(), strings.Join(unread, ", ")))
	}
	if h.mounts, err = configuredMounts(cfg, o.Mounts); err != nil {
		return nil, err
	}
	h.models = newModelSet(cfg, h.model, h.box.demo(), h.watch.call, h.log)
	if err := h.furnish(); err != nil {
		return nil, err
	}
	if h.shares, err = sharesOfProcess(); err != nil {
		return nil, err
	}
	h.pool = pool.New(pool.Config{Provider: h.box.provider, Max: h.shares.boxes, Observe: h.watch.metrics.CommandRun})
	if h.shared {
		if err := h.checkFolder(ctx); err != nil {
			return nil, err
		}
	}
	if h.bus, err = openBus(ctx, o.NATS, h.log); err != nil {
		return nil, err
	}
	owner := newOwner()
	h.hub = follow.New(follow.Config{Store: h.store, Bus: h.bus, Owner: owner})
	h.manager = runs.NewManager(runs.Config{
		Store: h.store, Build: h.build, Owner: owner, Schema: h.schema, Log: h.log, Bus: h.bus, Delete: h.deleteThread, Notify: h.notify, Watch: h.watch,
		Room: h.room, Parallel: h.shares.runs, Feed: func(run store.Run) runs.Feed { return h.hub.Own(run) }, Events: a.Events,
		ThreadMetadata: gateway.ThreadMetadata,
	})
	h.release, err = h.manager.KeepLease(ctx)
	return h, err
}

// openBus connects to the other processes by NATS; without a URL there is no bus.
func openBus(ctx context.Context, url string, log *slog.Logger) (bus.Bus, error) {
	if url == "" {
		return nil, nil //nolint:nilnil // to be alone is no error
	}
	return nats.Open(ctx, nats.Config{URL: url, Logger: log})
}

// session is the program as the commands see it.
func (h *house) session(notes []string) *cli.Session {
	s := &cli.Session{
		Runner: runner{h, access.Default()}, List: h.mine(), Store: h.mine(), UserID: access.Default().ID(), Notes: notes,
		Model: h.model.name(), Why: h.model.why, NoModel: h.model.missing,
		Sandbox: h.box.name, Data: h.dir, Questions: h.questions, Close: h.close,
	}
	if h.model.entry.IsDemo() {
		s.Demo = demo()
	}
	return s
}

func (h *house) questions(ctx context.Context, threadID string) ([]event.Interrupt, error) {
	at, err := h.manager.For(access.Default()).Snapshot(ctx, threadID, "")
	return at.Questions, err
}

func (h *house) close() error {
	h.release()
	h.hub.Close()
	err := errors.Join(h.pool.Close(), h.end(context.Background()))
	if h.bus != nil {
		err = errors.Join(err, h.bus.Close())
	}
	return errors.Join(err, h.store.Close())
}

// deleteThread removes a thread with its files and its sandbox, as its store says.
func (h *house) deleteThread(ctx context.Context, u access.User, id string) error {
	return removeThread(ctx, h.store.For(u), h.disk, id, h.pool.Drop)
}

// mine is what the user of the commands has.
func (h *house) mine() store.UserData { return h.store.For(access.Default()) }

// upload keeps an uploaded file of a user's thread.
func (h *house) upload(user access.User, threadID, name string, content io.Reader, limit int64) error {
	files, err := h.files(user, threadID)
	if err != nil {
		return err
	}
	defer files.Close()
	_, err = files.WriteFrom(sandbox.Uploads+"/"+name, content, limit)
	return err
}

// configuredMounts joins the mounts of the configuration and of the command line.
func configuredMounts(cfg *config.Config, more []sandbox.Mount) ([]sandbox.Mount, error) {
	var mounts []sandbox.Mount
	for _, m := range cfg.Sandbox.Mounts {
		if _, err := os.Stat(m.HostPath); err != nil {
			return nil, fmt.Errorf("%s:%d: sandbox mount: %w", cfg.Path, m.Line, err)
		}
		mounts = append(mounts, sandbox.Mount{Host: m.HostPath, Path: m.ContainerPath, ReadOnly: m.ReadOnly})
	}
	return append(mounts, more...), nil
}

// Keep stores a key in the credentials file.
func (App) Keep(name, value string) (string, error) {
	path := config.CredentialsPath(config.EnvFrom(os.LookupEnv))
	if path == "" {
		return "", errors.New("there is no home folder to keep it in; set the variable instead")
	}
	return path, config.SaveCredential(path, name, value)
}

// keyForms tells whose key a text looks like, the longer prefixes first.
var keyForms = []struct{ prefix, variable string }{
	{"sk-ant-", "ANTHROPIC_API_KEY"},
	{"sk-or-", "OPENROUTER_API_KEY"},
	{"sk-", "OPENAI_API_KEY"},
	{"AIza", "GEMINI_API_KEY"},
	{"gsk_", "GROQ_API_KEY"},
	{"xai-", "XAI_API_KEY"},
}

// Key implements cli.App. It also takes NAME=value.
func (App) Key(value string) string {
	for _, form := range keyForms {
		if strings.HasPrefix(value, form.prefix) && len(value) > 16 && !strings.ContainsAny(value, " \t") {
			return form.variable
		}
	}
	return ""
}

// TokensFile implements cli.App. The folder of the file is made if it is not there.
func (a App) TokensFile(o cli.Options) (string, error) {
	cfg, dir, _, err := a.settings(o)
	if err != nil {
		return "", err
	}
	path := cfg.TokensFile(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the tokens: %w", err)
	}
	return path, nil
}
