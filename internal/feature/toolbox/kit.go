package toolbox

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// The states of a [Status].
const (
	Unavailable = "unavailable" // code tools are off, or there is none for the sandbox's Python
	Missing     = "missing"     // nothing is installed
	Outdated    = "outdated"    // an older Pudu has installed what is shown
	Installing  = "installing"
	Installed   = "installed"
)

// Status says where the toolbox of a process stands.
type Status struct {
	State string `json:"state"`
	// Version is the one that new runs have, and Packages are the names by which its packages are imported.
	Version  string   `json:"version,omitempty"`
	Packages []string `json:"packages"`
	// Why says why there is none, or why the last installation failed.
	Why string `json:"why,omitempty"`
	// Step is download, unpack or compile while it is installing; Done of Total are its bytes. Without an installation
	// Total is what one would download.
	Step  string `json:"step,omitempty"`
	Done  int64  `json:"done,omitempty"`
	Total int64  `json:"total,omitempty"`
}

// Kit is the toolbox as the runs of a process have it. A version that was shown once is kept from being removed until
// the process ends: a sandbox may still show it. It is safe for concurrent use.
type Kit struct {
	box *Box
	ask func(ctx context.Context) (Target, error)
	log *slog.Logger

	ctx  context.Context //nolint:containedctx // of the installation, which outlives the call that begins it
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	asked  bool // the sandbox for its Python
	target Target
	held   map[string]func()
	now    *Progress // of the installation under way; nil is none
	failed string    // why the last one did
}

// NewKit makes the kit of a process. ask finds out for which Python it is to be; it is asked when that is needed.
func NewKit(b *Box, ask func(ctx context.Context) (Target, error), log *slog.Logger) *Kit {
	k := &Kit{box: b, ask: ask, log: log, held: map[string]func(){}}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// Shown is the version that a run that begins now has. Without one ok is false. What keeps it from being found does not
// keep the run from working.
func (k *Kit) Shown(ctx context.Context) (v Version, ok bool) {
	if k.box.empty() {
		return Version{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := k.forTarget(ctx)
	if errors.Is(err, ErrTarget) {
		return Version{}, false
	}
	if err == nil {
		v, ok, err = k.box.Find(t)
	}
	if err == nil && ok {
		err = k.hold(v)
	}
	if err != nil {
		k.log.WarnContext(ctx, "a run goes on without the toolbox", "error", err)
	}
	return v, ok && err == nil
}

// hold keeps a version. The lock is held.
func (k *Kit) hold(v Version) error {
	if k.held[v.Name] != nil {
		return nil
	}
	release, err := k.box.Hold(v)
	if err == nil {
		k.held[v.Name] = release
	}
	return err
}

// forTarget asks the sandbox until it has answered. The lock is held.
func (k *Kit) forTarget(ctx context.Context) (Target, error) {
	if k.asked {
		return k.target, nil
	}
	t, err := k.ask(ctx)
	k.asked, k.target = err == nil, t
	return t, err
}

// Status says where it stands.
func (k *Kit) Status(ctx context.Context) Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := Status{State: Missing, Packages: []string{}, Why: k.failed}
	t, err := k.forTarget(ctx)
	if err == nil {
		var v Version
		var ok bool
		if v, ok, err = k.box.Find(t); ok {
			s.State, s.Version, s.Packages = Installed, v.Name, v.Names()
			if !v.Current {
				s.State = Outdated
			}
		}
	}
	if err != nil {
		return Status{State: Unavailable, Packages: []string{}, Why: err.Error()}
	}
	if k.now != nil {
		s.State, s.Why, s.Step, s.Done, s.Total = Installing, "", k.now.Step, k.now.Done, k.now.Total
		return s
	}
	if set, err := k.box.lock.For(t); s.State != Installed && err == nil {
		s.Total = set.size()
	}
	return s
}

// Begin begins to install in the background what this program wants, unless it is there or that is under way. Its error
// says why it cannot.
func (k *Kit) Begin(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now != nil {
		return nil
	}
	t, err := k.forTarget(ctx)
	if err != nil {
		return err
	}
	set, err := k.box.lock.For(t)
	if err == nil {
		err = k.ctx.Err()
	}
	if err != nil {
		return err
	}
	k.now, k.failed = &Progress{Step: "download", Total: set.size()}, ""
	k.work.Go(func() { k.install(t) })
	return nil
}

func (k *Kit) install(t Target) {
	k.log.Info("the toolbox is being installed", "for", t.String())
	v, err := k.box.Install(k.ctx, t, nil, func(p Progress) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.now = &p
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = nil
	switch {
	case err == nil:
		k.log.Info("the toolbox is installed; runs that begin now have it", "version", v.Name)
	case k.ctx.Err() == nil:
		k.failed = err.Error()
		k.log.Warn("the toolbox was not installed", "error", err)
	}
}

// Close ends an installation that is under way, whose downloads the next one goes on with, and lets versions be
// removed.
func (k *Kit) Close() {
	k.stop()
	k.work.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, release := range k.held {
		release()
	}
	clear(k.held)
}

// declined is a file that says that a person does not want to be asked.
const declined = ".declined"

// Declined reports whether a person has said that he does not want to be asked.
func (k *Kit) Declined() bool {
	_, err := os.Stat(filepath.Join(k.box.cfg.Dir, declined))
	return err == nil
}

// Decline keeps that a person does not want to be asked.
func (k *Kit) Decline() error {
	if err := os.MkdirAll(k.box.cfg.Dir, 0o755); err != nil { //nolint:gosec // the sandbox of root runs as another user, who must get there
		return err
	}
	return os.WriteFile(filepath.Join(k.box.cfg.Dir, declined), nil, 0o600)
}
