package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/model/probe"
)

// entryFlags are what a command is told of an entry.
type entryFlags struct {
	name, base, settings string
	noKey                bool
}

func (f *entryFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "`NAME` by which runs ask for it (default: PROVIDER/MODEL)")
	flags.StringVar(&f.base, "base-url", "", "`URL` of the server, if it is not the provider's own")
	flags.StringVar(&f.settings, "settings", "",
		"further keys of an entry as a `JSON` object, such as {\"context_window\":32768}")
	flags.BoolVar(&f.noKey, "no-key", false, "ask for no key: the server wants none, or it is in the environment")
}

// given is the entry of PROVIDER/MODEL, with the key from the standard input, which a terminal does not show.
func (f *entryFlags) given(of string, stdio IO) (g config.Given, err error) {
	provider, id, ok := strings.Cut(of, "/")
	if !ok {
		return g, usageError("%q is no PROVIDER/MODEL; `pudu models providers` lists the providers", of)
	}
	g = config.Given{Name: f.name, Provider: provider, ID: id, BaseURL: f.base}
	if f.settings != "" {
		g.Settings = json.RawMessage(f.settings)
		if !json.Valid(g.Settings) {
			return g, usageError("--settings: it is no JSON")
		}
	}
	if !f.noKey {
		var key string
		key, err = stdio.askKey()
		g.Key = config.Secret(key)
	}
	return g, err
}

// askKey reads a key: a line of the standard input.
func (stdio IO) askKey() (string, error) {
	if !stdio.InTTY {
		return stdio.readLine(), nil
	}
	fmt.Fprint(stdio.Err, "Key (Enter for none): ")
	key, err := stdio.hiddenLine()
	return strings.TrimSpace(key), err
}

func addModel(with keeping, stdio IO) *cobra.Command {
	var f entryFlags
	var standard, untested, replace bool
	cmd := &cobra.Command{
		Use:   "add PROVIDER/MODEL",
		Short: "Add a model with its key, which is read from the standard input, when it answers",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := f.given(args[0], stdio)
			if err != nil {
				return err
			}
			return with(cmd, func(ctx context.Context, k client.Keeper) error {
				if !untested {
					if err := answersFirst(ctx, k, models.Trial{Given: g, Keep: replace, First: true}); err != nil {
						return err
					}
				}
				if replace {
					err = k.Put(ctx, g, true)
				} else {
					err = k.Add(ctx, g, standard)
				}
				if err == nil && replace && standard {
					err = k.SetStandard(ctx, g.FullName())
				}
				if err == nil {
					fmt.Fprintf(stdio.Err, "Runs that begin now can have it: %s run --model %s \"...\"\n",
						stdio.program(), Quote(g.FullName()))
				}
				return err
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&standard, "default", false, "make it the model of runs that name none")
	cmd.Flags().BoolVar(&untested, "untested", false, "add it whether it answers or not")
	cmd.Flags().BoolVar(&replace, "replace", false,
		"change the model of that name, which keeps its key if none is given")
	return cmd
}

// answersFirst returns why a model does not answer. Whether what it answers is good it does not say.
func answersFirst(ctx context.Context, k client.Keeper, t models.Trial) error {
	test, err := k.Test(ctx, t)
	if err != nil {
		return err
	}
	x, err := test(ctx, func(probe.Result) {})
	switch {
	case err != nil || x.Verdict != probe.NoVerdict:
		return err
	case ctx.Err() != nil:
		return cutOff(ctx, ctx.Err())
	}
	text := "it was not added: " + x.Why
	if x.Remedy != "" {
		text += "; " + x.Remedy
	}
	return errors.New(inert.Line(text + ", or say --untested"))
}

func testModel(with keeping, stdio IO) *cobra.Command {
	var asJSON, first bool
	cmd := &cobra.Command{
		Use: "test [NAME]", Short: "Have a model, by default the one that runs use, do the tasks of pudu doctor model",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t := models.Trial{First: first}
			if len(args) > 0 {
				t.Name = args[0]
			}
			var x probe.Examined
			err := with(cmd, func(ctx context.Context, k client.Keeper) error {
				test, err := k.Test(ctx, t)
				if err != nil {
					return err
				}
				x, err = tested(ctx, test, asJSON, stdio)
				return err
			})
			if err != nil {
				return err
			}
			return unfit(&x)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, when all is done")
	cmd.Flags().BoolVar(&first, "first", false, "the first task alone: whether it answers")
	return cmd
}

// tested carries a test out and prints what came of it.
func tested(ctx context.Context, test probe.Test, asJSON bool, stdio IO) (probe.Examined, error) {
	look := style{on: stdio.OutTTY && !stdio.Plain}
	done := func(r probe.Result) { printResult(stdio.Out, look, r) }
	if asJSON {
		done = func(probe.Result) {}
	}
	x, err := test(ctx, done)
	switch {
	case ctx.Err() != nil:
		return x, cutOff(ctx, ctx.Err())
	case err != nil:
		return x, err
	case asJSON:
		return x, printJSON(stdio, x)
	}
	printExamined(stdio.Out, look, &x)
	return x, nil
}
