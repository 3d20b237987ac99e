package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/archive"
)

func backupCommand(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all threads and their files into one archive",
		Long: "Write all threads and their files into one archive (.tar.gz), which pudu restore reads; - is standard " +
			"output. Works\n" +
			"beside a server and while runs are at work. FILE must not exist. Configuration and keys are not in it.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			var sum archive.Summary
			err := writeNew(args[0], stdio.Out, func(w io.Writer) (err error) {
				sum, err = app.Backup(ctx, *o, w)
				return err
			})
			if err != nil {
				return cutOff(ctx, err)
			}
			name := args[0]
			if name == "-" {
				name = "standard output"
			}
			fmt.Fprintf(stdio.Err, "Backup written to %s: %s.\n", name, holds(sum))
			fmt.Fprintln(stdio.Err, "Not in it: the configuration, keys, named tokens, secrets.key and what that "+
				"seals (webhooks, keys of models, secrets of runs).")
			if sum.Changed > 0 {
				fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("! "+Count(sum.Changed, "file")+
					" changed while being read, and may be in it half old and half new"))
			}
			if sum.Skipped > 0 {
				fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("! "+Count(sum.Skipped, "file")+
					" left out: not to be read, or a pipe, a socket or a device"))
			}
			return nil
		},
	}
}

func restoreCommand(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Read an archive of pudu backup into an empty data folder",
		Long: "Read an archive of pudu backup into an empty data folder (see --data), all of it or nothing; - is " +
			"standard input.\n" +
			"Runs that were unfinished in it can be resumed.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			in := stdio.In
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return usageError("%s: %w", args[0], errors.Unwrap(err))
				}
				defer f.Close()
				in = bufio.NewReaderSize(f, 256<<10)
			}
			sum, err := app.Restore(ctx, *o, in)
			if err != nil {
				return cutOff(ctx, err)
			}
			fmt.Fprintf(stdio.Err, "Restored %s.\n", holds(sum))
			if sum.Skipped > 0 {
				fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("! "+Count(sum.Skipped, "symbolic link")+
					" left out, for leading out of the thread's folder"))
			}
			return nil
		},
	}
}

// holds says what is in an archive.
func holds(s archive.Summary) string {
	parts := []string{Count(s.Threads, "thread"), Count(s.Runs, "run"), Count(s.Steps, "step"), Count(s.Files, "file")}
	return strings.Join(parts, ", ") + " of " + amount(s.Bytes)
}

// amount writes a number of bytes for people: 940 B, 12.4 KiB, 1.2 GiB.
func amount(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/(1<<10), 0
	for ; f >= 1024 && unit < 3; unit++ {
		f /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", f, "KMGT"[unit])
}

var errInterrupted = errors.New("cancelled; nothing was left behind")

// cutOff gives an error its exit code: that of an interrupt, if there was one.
func cutOff(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &codeError{ExitCancelled, cause}
	}
	if _, coded := errors.AsType[*codeError](err); coded {
		return err
	}
	return failedWith(err)
}
