package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

// binCommands are the commands that change where threads stand.
func binCommands(app App, o *Options, stdio IO) []*cobra.Command {
	each := func(use, short, done string, do func(context.Context, client.Bin, string) error) *cobra.Command {
		return &cobra.Command{Use: use + " THREAD...", Short: short, Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return failedWith(withBin(cmd.Context(), app, *o, func(b client.Bin) error {
					for _, id := range args {
						if err := do(cmd.Context(), b, id); err != nil {
							return noSuchThread(err, id)
						}
						fmt.Fprintf(stdio.Err, done+"\n", id)
					}
					return nil
				}))
			}}
	}
	mark := func(use, short, done string, to bin.Marks) *cobra.Command {
		return each(use, short, done, func(ctx context.Context, b client.Bin, id string) error {
			_, err := b.Mark(ctx, id, to)
			return err
		})
	}
	yes, no := true, false
	return []*cobra.Command{
		each("trash", "Put threads into the bin; what runs on them is stopped",
			"Put thread %[1]s into the bin. Undo: pudu threads restore %[1]s",
			func(ctx context.Context, b client.Bin, id string) error { _, err := b.Trash(ctx, id); return err }),
		each("restore", "Take threads out of the bin", "Restored thread %s.",
			func(ctx context.Context, b client.Bin, id string) error { _, err := b.Restore(ctx, id); return err }),
		binCommand(app, o, stdio),
		mark("archive", "Put threads away, out of the lists", "Archived thread %s.", bin.Marks{Archived: &yes}),
		mark("unarchive", "Put threads back into the lists", "Thread %s is in the lists again.",
			bin.Marks{Archived: &no}),
		mark("pin", "Have threads stand first in the lists of clients", "Pinned thread %s.", bin.Marks{Pinned: &yes}),
		mark("unpin", "Have threads stand in lists by their time", "Thread %s is pinned no more.",
			bin.Marks{Pinned: &no}),
		renameCommand(app, o, stdio),
	}
}

// withBin has do work with the bin and the marks of the user's threads.
func withBin(ctx context.Context, app App, o Options, do func(client.Bin) error) error {
	return app.Reach(ctx, o, func(c *client.Client) error { return do(client.Bin{Client: c}) })
}

// noSuchThread says what to do about a thread that is not there.
func noSuchThread(err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no thread %q; `pudu threads` and `pudu threads bin` list them", id)
	}
	return err
}

func renameCommand(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{Use: "rename THREAD TITLE", Short: "Give a thread another title", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := bin.CheckTitle(args[1]); err != nil {
				return usageError("%v", err)
			}
			err := withBin(cmd.Context(), app, *o, func(b client.Bin) error {
				return noSuchThread(b.Rename(cmd.Context(), args[0], args[1]), args[0])
			})
			if err == nil {
				fmt.Fprintln(stdio.Err, "Renamed thread "+args[0]+".")
			}
			return failedWith(err)
		}}
}

func binCommand(app App, o *Options, stdio IO) *cobra.Command {
	var limit int
	var empty bool
	cmd := &cobra.Command{Use: "bin", Short: "List the threads in the bin, the last deleted first, or empty it",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !empty {
				return listShelf(cmd.Context(), app, *o, stdio, store.InBin, limit)
			}
			return failedWith(withBin(cmd.Context(), app, *o, func(b client.Bin) error {
				n, err := b.Empty(cmd.Context())
				if err == nil {
					fmt.Fprintf(stdio.Err, "Deleted %s for good.\n", Count(n, "thread"))
				}
				return err
			}))
		}}
	limitFlag(cmd.Flags(), &limit, 100, 1000)
	cmd.Flags().BoolVar(&empty, "empty", false, "delete them for good")
	return cmd
}

// listShelf lists threads that are in no other list.
func listShelf(ctx context.Context, app App, o Options, stdio IO, of store.Shelf, limit int) error {
	return failedWith(withBin(ctx, app, o, func(b client.Bin) error {
		threads, err := b.List(ctx, of, limit, 0)
		if err != nil {
			return err
		}
		if len(threads) == 0 {
			fmt.Fprintf(stdio.Err, "The %s is empty.\n", of)
			return nil
		}
		rows := make([][]string, len(threads))
		for i, t := range threads {
			at := t.UpdatedAt
			if t.Trashed() {
				at = t.TrashedAt
			}
			rows[i] = []string{t.ID, at.Local().Format(time.DateTime), inert.Line(t.Title)} //nolint:gosmopolitan // read by a person, here
		}
		return printTable(stdio.Out, rows)
	}))
}
