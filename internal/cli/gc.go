package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

func gcCommand(app App, o *Options, stdio IO) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what has outlived its use, and give the room back",
		Long: "Remove what is older than the configuration's retention: in which pieces messages were streamed, " +
			"outputs of commands\n" +
			"and tools that were too long to be shown, snapshots that only make old steps quicker to load, and items " +
			"whose time to live is over; and what belongs to\n" +
			"nothing: folders without a thread, files whose writing was cut off. Threads, their messages, their " +
			"states and their files stay as they are.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			c, err := app.Collect(ctx, *o, dryRun)
			if errors.Is(err, store.ErrLocked) {
				err = fmt.Errorf("%w (--dry-run works beside it)", err)
			}
			if err != nil {
				return cutOff(ctx, err)
			}
			printCollected(stdio, c, dryRun)
			if len(c.Failed) > 0 {
				return &codeError{ExitFailed, errors.New(Count(len(c.Failed), "thing") + " could not be removed")}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "remove nothing, say what would be removed")
	return cmd
}

func printCollected(stdio IO, c Collected, dryRun bool) {
	verb := "Removed"
	if dryRun {
		verb = "Would remove"
	}
	fmt.Fprintf(stdio.Out, "%s chunks of %s, %s: %s\n", verb, Count(c.Messages, "message"),
		Count(c.Snapshots, "snapshot"), amount(c.Bytes))
	if c.Rows > 0 {
		fmt.Fprintf(stdio.Out, "%s %s whose time was over, such as items of the store\n", verb, Count(c.Rows, "row"))
	}
	fmt.Fprintf(stdio.Out, "%s %s without a thread\n", verb, Count(len(c.Folders), "folder"))
	for _, name := range c.Folders {
		fmt.Fprintln(stdio.Out, "  "+inert.Line(name))
	}
	if !dryRun {
		fmt.Fprintf(stdio.Out, "Removed %s of commands and tools: %s; %s of writing\n", Count(c.Logs, "output"),
			amount(c.LogBytes), Count(c.Leftovers, "leftover"))
		fmt.Fprintf(stdio.Out, "The database is smaller by %s\n", amount(c.Shrunk))
	}
	for _, why := range c.Failed {
		fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("! "+inert.Line(why)))
	}
}
