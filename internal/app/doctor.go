package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/model"
)

// The bounds of the doctor's checks.
const (
	modelTimeout = 60 * time.Second
	leastDisk    = 1 << 30 // bytes
)

// Doctor implements cli.App.
func (a App) Doctor(ctx context.Context, o cli.Options, report func(cli.Check)) {
	cfg, dir, notes, err := a.settings(o)
	if err != nil {
		report(failed("config", err, "correct the file that is named, or start without --config"))
		return
	}
	detail := "no file, the built-in settings"
	if cfg.Path != "" {
		detail = cfg.Path
	}
	detail = strings.Join(append([]string{detail}, notes...), "; ")
	report(cli.Check{Name: "config", OK: true, Detail: detail})
	a.checkData(ctx, cfg, o, dir, report)
	report(checkDisk(dir))
	b := openSandbox(ctx, cfg, a.Sandbox)
	report(checkSandbox(ctx, b))
	report(checkToolbox(ctx, b, newToolbox(cfg, dir, slog.New(slog.DiscardHandler))))
	report(a.checkModel(ctx, readAdded(ctx, cfg, o, dir), o.Model))
}

func failed(name string, err error, remedy string) cli.Check {
	return cli.Check{Name: name, Detail: err.Error(), Remedy: remedy}
}

// checkData opens the store and reads all of it. A store that another Pudu holds is read without its lock.
func (a App) checkData(ctx context.Context, cfg *config.Config, o cli.Options, dir string, report func(cli.Check)) {
	st, err := openStore(ctx, cfg, o, dir, false)
	held := ""
	if errors.Is(err, store.ErrLocked) {
		held = " (another Pudu is using it)"
		st, err = openStore(ctx, cfg, o, dir, true)
	}
	if err != nil {
		report(failed("data", err, dataRemedy(cfg, o)))
		return
	}
	defer st.Close()
	report(cli.Check{Name: "data", OK: true, Detail: dir + held})
	a.checkStore(ctx, cfg, st, dir, report)
}

// dataRemedy is what to do about a store that cannot be opened.
func dataRemedy(cfg *config.Config, o cli.Options) string {
	if isShared(cfg, o) {
		return "start that PostgreSQL, or let this machine reach it; another one is named with --database, " +
			"$PUDU_DATABASE or database: in the configuration"
	}
	return "see the message; another folder can be given with --data"
}

func checkDisk(dir string) cli.Check {
	free, err := freeBytes(dir)
	if err != nil {
		return failed("disk", err, "check that the data folder exists and can be read")
	}
	c := cli.Check{Name: "disk", OK: free >= leastDisk, Detail: fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))}
	if !c.OK {
		c.Remedy = "free some space, or give a data folder on another disk with --data"
	}
	return c
}

func checkSandbox(ctx context.Context, b box) cli.Check {
	if b.off != "" {
		return failed("sandbox", errors.New(b.off), "until then the agent works without running code")
	}
	start := time.Now()
	if err := b.check(ctx); err != nil {
		return failed("sandbox", err,
			"check that the temporary folder can be written, run `bwrap --version`, and see the README, section "+
				"Sandbox")
	}
	detail := fmt.Sprintf("%s, started and ran a command in %s", b.name, time.Since(start).Round(time.Millisecond))
	return cli.Check{Name: "sandbox", OK: true, Detail: detail}
}

// checkToolbox tells which packages the sandbox's Python has. That it has none is worth a look.
func checkToolbox(ctx context.Context, b box, tools *toolbox.Box) cli.Check {
	c := cli.Check{Name: "toolbox", OK: true, Warning: true}
	if b.off != "" {
		c.Warning, c.Detail = false, "not needed while code tools are off"
		return c
	}
	t, err := b.target(ctx)
	if err != nil {
		c.Detail, c.Remedy = err.Error(), "until then the agent's programs have the standard library alone"
		return c
	}
	v, ok, err := tools.Find(t)
	switch {
	case err != nil:
		c.Detail, c.Remedy = err.Error(), "check that the data folder can be read"
	case !ok:
		c.Detail, c.Remedy = "not installed: the agent's programs have the standard library of Python alone", installIt
	case !v.Current:
		c.Detail, c.Remedy = v.Name+", which an older Pudu has installed", installIt
	default:
		c.Warning, c.Detail = false, v.Name+": "+strings.Join(v.Names(), ", ")
	}
	return c
}

const installIt = "`pudu toolbox install` downloads about 120 MB of packages for tables, charts, documents and PDF"

// checkModel asks the model for one word.
func (a App) checkModel(ctx context.Context, cfg *config.Config, name string) cli.Check {
	chosen, err := a.chooseModel(ctx, cfg, name, demoScript)
	if err != nil {
		return failed("model", err, "name another one with --model, or correct the configuration")
	}
	if chosen.missing != nil {
		return failed("model", errors.New("none found; runs are refused until there is one"), chosen.missing.Error())
	}
	took, err := oneWord(ctx, chosen.model)
	if err != nil {
		return failed("model", err, remedyFor(err))
	}
	detail := fmt.Sprintf("%s answered in %s (%s)", chosen.model.Name(), took.Round(time.Millisecond), chosen.why)
	return cli.Check{Name: "model", OK: true, Detail: detail}
}

// remedyFor is what to do about a failed call.
func remedyFor(err error) string {
	e := model.AsError(err)
	if e == nil {
		return "try again"
	}
	switch e.Class {
	case model.ClassAuth:
		return "check the key of " + e.Provider
	case model.ClassQuota:
		return "check the credit of your account at " + e.Provider
	case model.ClassNotFound:
		return "check the model's name and the base URL; --model names another"
	case model.ClassRateLimit, model.ClassBurst, model.ClassBusy, model.ClassTransient:
		return "try again later; if it stays so, check the address and the network"
	}
	return "read the provider's message"
}
