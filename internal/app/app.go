// Package app puts the program together: it is the only place that constructs stores, models, sandboxes and the
// manager of runs, from the configuration, for the edges that need them.
//
//	flags -> config -> model choice -> sandbox probe -> store -> manager of runs -> Session
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/sandbox"
)

// DefaultUser owns the threads of a Pudu without accounts.
const DefaultUser = "default"

// App implements cli.App. The zero value works on the process's own environment.
type App struct{}

var _ cli.App = App{}

// Open sets everything up for runs.
func (a App) Open(ctx context.Context, o cli.Options) (*cli.Session, error) {
	cfg, dir, notes, err := settings(o)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return openReadOnly(ctx, dir)
	}
	box := openSandbox(ctx, cfg)
	script := demoScript
	if box.off != "" {
		script = demoFilesScript
	}
	chosen, err := chooseModel(ctx, cfg, o.Model, script)
	if err != nil {
		return nil, err
	}
	notes = append(notes, box.notes...)
	if len(chosen.unread) > 0 {
		notes = append(notes, fmt.Sprintf("model %s: %s is read but has no effect yet", chosen.model.Name(), strings.Join(chosen.unread, ", ")))
	}
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	mounts, err := configuredMounts(cfg, o.Mounts)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	house := &house{
		cfg: cfg, dir: dir, model: chosen, box: box, mounts: mounts,
		guard: lead.NewModelGuard(cfg.LLMCall, cfg.CircuitBreaker),
	}
	house.pool = pool.New(pool.Config{Provider: box.provider})
	manager := runs.NewManager(runs.Config{Store: st, Build: house.build, Owner: owner()})
	if n, err := manager.CloseAbandoned(ctx); err != nil {
		return nil, errors.Join(err, house.pool.Close(), st.Close())
	} else if n > 0 {
		notes = append(notes, fmt.Sprintf("%d run(s) that a stopped process had left were ended; their threads can be continued", n))
	}
	return &cli.Session{
		Manager: manager, Store: st, UserID: DefaultUser, Notes: notes,
		Model: chosen.model.Name(), Why: chosen.why, Scripted: chosen.missing != "", NoModel: chosen.missing,
		Sandbox: box.name, Demo: demo(),
		Files: func(threadID string) (*sandbox.Files, error) { return house.files(threadID) },
		Close: func() error { return errors.Join(house.pool.Close(), st.Close()) },
	}, nil
}

// settings loads the configuration and finds the data folder.
func settings(o cli.Options) (*config.Config, string, []string, error) {
	cfg, warnings, err := config.Load(config.LoadOptions{Path: o.Config})
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
func openReadOnly(ctx context.Context, dir string) (*cli.Session, error) {
	if _, err := os.Stat(filepath.Join(dir, sqlstore.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data folder %s: %w", dir, fs.ErrNotExist)
	}
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &cli.Session{Store: st, UserID: DefaultUser, Close: st.Close}, nil
}

// house is what the runs of one process share.
type house struct {
	cfg    *config.Config
	dir    string
	model  chosen
	box    box
	mounts []sandbox.Mount
	pool   *pool.Pool
	guard  lead.ModelGuard
}

// build makes the agent for a job.
func (h *house) build(_ context.Context, job runs.Job) (runs.Built, error) {
	ws, err := h.space(job.Run.ThreadID)
	if err != nil {
		return runs.Built{}, err
	}
	a, err := lead.Build(lead.Config{
		Settings: h.cfg, Model: h.model.model, Guard: h.guard, Vision: h.model.vision,
		Space: ws, Park: ws.Park, Mounts: h.mounts, Programs: h.box.programs, Isolated: h.box.isolated, CodeOff: h.box.off,
	})
	if err != nil {
		return runs.Built{}, errors.Join(err, ws.Close())
	}
	return runs.Built{Agent: a, Config: lead.Limits(h.cfg, job.Request.MaxSteps), Close: ws.Close}, nil
}

// mountsOf are the folders that a thread's sandbox sees; its own are made.
func (h *house) mountsOf(threadID string) ([]sandbox.Mount, error) {
	if err := config.CheckThreadID(threadID); err != nil {
		return nil, err
	}
	base := filepath.Join(h.dir, "users", config.UserFolder(DefaultUser), "threads", threadID, "user-data")
	var mounts []sandbox.Mount
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		host := filepath.Join(base, name)
		if err := os.MkdirAll(host, 0o755); err != nil {
			return nil, fmt.Errorf("make thread folder: %w", err)
		}
		mounts = append(mounts, sandbox.Mount{Host: host, Path: sandbox.UserData + "/" + name})
	}
	return append(mounts, h.mounts...), nil
}

func (h *house) files(threadID string) (*sandbox.Files, error) {
	mounts, err := h.mountsOf(threadID)
	if err != nil {
		return nil, err
	}
	return sandbox.NewFiles(mounts, h.box.owner(threadID))
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

func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
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
