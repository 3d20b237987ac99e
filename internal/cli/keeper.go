package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

// keeping runs what a command does with the keeper.
type keeping func(cmd *cobra.Command, do func(context.Context, client.Keeper) error) error

// keeperCommands are the commands below pudu models that change which there are.
func keeperCommands(app App, o *Options, stdio IO) []*cobra.Command {
	with := func(cmd *cobra.Command, do func(context.Context, client.Keeper) error) error {
		ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
		defer stop()
		at := *o
		at.Begin = true
		err := app.Reach(ctx, at, func(c *client.Client) error { return do(ctx, client.Keeper{Client: c}) })
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w; `pudu models list` names the models that there are", err)
		}
		return failedWith(err)
	}
	list := []*cobra.Command{
		listModels(with, stdio), listProviders(with, stdio), addModel(with, stdio), testModel(with, stdio),
		changeModel(with, stdio, "default NAME",
			"Choose the model of runs that name none; \"\" leaves it to the configuration", "It is the default.",
			client.Keeper.SetStandard),
		changeModel(with, stdio, "remove NAME",
			"Remove a model that was added, with its key; runs that work with it go on", "Removed the model.",
			client.Keeper.Remove),
	}
	for _, cmd := range list {
		serverFlags(cmd.Flags(), o)
	}
	return list
}

func changeModel(with keeping, stdio IO, use, short, done string,
	do func(client.Keeper, context.Context, string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := with(cmd, func(ctx context.Context, k client.Keeper) error { return do(k, ctx, args[0]) })
			if err == nil {
				fmt.Fprintln(stdio.Err, done)
			}
			return err
		}}
}

func listModels(with keeping, stdio IO) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the models, and where they and their keys come from; nobody is asked",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, k client.Keeper) error {
				l, err := k.List(ctx)
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(stdio, l)
				}
				return printListed(stdio, l)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printListed(stdio IO, l models.List) error {
	rows := [][]string{{"  NAME", "MODEL", "FROM", "KEY FROM", ""}}
	for i := range l.Models {
		m := &l.Models[i]
		mark := " "
		if m.Default {
			mark = "*"
		}
		rows = append(rows, []string{
			mark + " " + inert.Line(m.Name), inert.Line(m.Provider + "/" + m.Model), inert.Line(m.Origin),
			inert.Line(m.Key), inert.Line(m.Problem),
		})
	}
	if len(l.Models) > 0 {
		if err := printTable(stdio.Out, rows); err != nil {
			return err
		}
	}
	if l.Default == "" {
		fmt.Fprintln(stdio.Err, inert.Text(l.Why))
	}
	return nil
}

func listProviders(with keeping, stdio IO) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "providers", Short: "List what models can be added of, and what each needs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, k client.Keeper) error {
				l, err := k.Providers(ctx)
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(stdio, l)
				}
				return printProviders(stdio, l)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printProviders(stdio IO, l models.Providers) error {
	rows := [][]string{{"PROVIDER", "NEEDS", "SUCH AS", "KEYS AT"}}
	for _, p := range l.Providers {
		rows = append(rows, []string{inert.Line(p.Name), needs(p),
			inert.Line(strings.Join(p.Models[:min(len(p.Models), 2)], ", ")), inert.Line(p.KeyURL)})
	}
	if l.Ollama != nil {
		rows = append(rows, []string{"ollama", "nothing: found at " + inert.Line(l.Ollama.BaseURL),
			inert.Line(strings.Join(l.Ollama.Models, ", ")), ""})
	}
	return printTable(stdio.Out, rows)
}

func needs(p models.Provider) string {
	var list []string
	if p.NeedsBaseURL {
		list = append(list, "--base-url")
	}
	switch {
	case p.KeyInEnvironment != "":
		list = append(list, "no key ("+inert.Line(p.KeyInEnvironment)+" is set)")
	case p.NeedsKey:
		list = append(list, "a key")
	}
	if list == nil {
		return "nothing"
	}
	return strings.Join(list, ", ")
}
