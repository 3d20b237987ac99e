package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

func jobsCommand(app App, o *Options, stdio IO) *cobra.Command {
	var f job.Filter
	var asJSON bool
	cmd := &cobra.Command{
		Use: "jobs", Short: "List what waits to be done, what fails and why; do some again, drop some",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := app.Reach(cmd.Context(), *o, func(c *client.Client) error {
				list, err := c.Jobs().List(cmd.Context(), f)
				return errors.Join(err, printJobs(stdio, list, asJSON))
			})
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // nothing was done yet
			}
			return failedWith(err)
		},
	}
	change := func(use, short, done string, do func(context.Context, client.Jobs, []string) (int64,
		error)) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				err := app.Reach(cmd.Context(), *o, func(c *client.Client) error {
					n, err := do(cmd.Context(), c.Jobs(), args)
					if err == nil && n == 0 || errors.Is(err, store.ErrNotFound) {
						err = fmt.Errorf("there is no such job that does not run: %s %s; `pudu jobs` lists them",
							args[0],
							args[1])
					}
					return err
				})
				if err == nil {
					fmt.Fprintln(stdio.Err, done)
				}
				return failedWith(err)
			}}
	}
	cmd.PersistentFlags().StringVar(&f.User, "user", "", "only those of the user with this `ID`")
	cmd.Flags().StringVar(&f.Kind, "kind", "", "only those of a `KIND`, such as webhook")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	serverFlags(cmd.PersistentFlags(), o)
	cmd.AddCommand(
		change("retry KIND KEY", "Do a job now, with all its tries before it", "It is done within seconds.",
			func(ctx context.Context, jobs client.Jobs, args []string) (int64, error) {
				return jobs.Retry(ctx, args[0], args[1], f.User)
			}),
		change("drop KIND KEY", "Remove a job; one that runs has no effect any more", "Dropped the job.",
			func(ctx context.Context, jobs client.Jobs, args []string) (int64, error) {
				return jobs.Drop(ctx, args[0], args[1], f.User)
			}),
	)
	return cmd
}

func printJobs(stdio IO, list []job.Entry, asJSON bool) error {
	if asJSON {
		return printLines(stdio.Out, list)
	}
	rows := make([][]string, len(list))
	for i, e := range list {
		at := e.NotBefore.Local().Format(time.DateTime) //nolint:gosmopolitan // read by a person, here
		state := "waits until " + at
		switch {
		case !e.Dead.IsZero():
			state = "given up"
		case e.Begun:
			state = "runs"
		}
		rows[i] = []string{inert.Line(e.Kind), inert.Line(e.Key), inert.Line(e.User), state,
			fmt.Sprintf("try %d", e.Tries), inert.Line(e.Error)}
	}
	return printTable(stdio.Out, rows)
}
