package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
)

func threadsCommand(app App, o *Options, stdio IO) *cobra.Command {
	var limit int
	var archived bool
	cmd := &cobra.Command{
		Use:   "threads",
		Short: "List the threads, the last used first; show one; delete some",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if archived {
				return listShelf(cmd.Context(), app, *o, stdio, store.InArchive, limit)
			}
			return list(cmd.Context(), app, *o, stdio, func(s *Session) error {
				threads, err := s.List.SearchThreads(cmd.Context(), store.ThreadFilter{Limit: limit})
				if err != nil {
					return err
				}
				return printThreads(stdio, threads)
			})
		},
	}
	limitFlag(cmd.Flags(), &limit, 20, 1000)
	cmd.Flags().BoolVar(&archived, "archived", false, "those that are archived")
	serverFlags(cmd.PersistentFlags(), o)
	cmd.AddCommand(showCommand(app, o, stdio), deleteCommand(app, o, stdio), filesCommand(app, o, stdio),
		downloadCommand(app, o, stdio), transcriptCommand(app, o, stdio), diffCommand(app, o, stdio),
		undoCommand(app, o, stdio))
	cmd.AddCommand(binCommands(app, o, stdio)...)
	cmd.AddCommand(againCommands(app, o, stdio)...)
	return cmd
}

// noThreads is what there is to say before the first run.
const noThreads = "No threads yet. Start one with: pudu run \"TASK\""

// list opens the store for reading, or a session at a server, and has it listed. That there is none yet is no failure.
func list(ctx context.Context, app App, o Options, stdio IO, show func(*Session) error) error {
	o.ReadOnly = true
	s, err := open(ctx, app, o)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(stdio.Err, noThreads)
		return nil
	}
	if err != nil {
		return err
	}
	defer closeSession(s)
	return failedWith(show(s))
}

func deleteCommand(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use:   "delete THREAD...",
		Short: "Remove threads for good with everything that belongs to them: messages, states, files",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return failedWith(app.Reach(cmd.Context(), *o, func(c *client.Client) error {
				for _, id := range args {
					err := userdata.CheckThreadID(id)
					if err == nil {
						err = c.DeleteThread(cmd.Context(), id)
					}
					if err != nil {
						return undeleted(err, id)
					}
					fmt.Fprintln(stdio.Err, "Deleted thread "+id+".")
				}
				return nil
			}))
		},
	}
}

// undeleted says what is in the way of removing a thread.
func undeleted(err error, id string) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("there is no thread %q; `pudu threads` lists them", id)
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("thread %s has an unfinished run; end it first: pudu run --resume %[1]s (Ctrl-C cancels it)",
			id)
	}
	return err
}

func printThreads(stdio IO, threads []store.Thread) error {
	if len(threads) == 0 {
		fmt.Fprintln(stdio.Err, noThreads)
		return nil
	}
	rows := make([][]string, len(threads))
	for i, t := range threads {
		rows[i] = []string{t.ID, t.UpdatedAt.Local().Format(time.DateTime), inert.Line(t.Title)} //nolint:gosmopolitan // read by a person, here
	}
	return printTable(stdio.Out, rows)
}
