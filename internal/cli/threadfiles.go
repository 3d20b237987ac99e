package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// shelved has do work with the files of a thread, to look at them.
func shelved(ctx context.Context, app App, o Options, thread string, paths []string,
	do func(*client.Client) error) error {
	for _, p := range paths {
		if err := inThread(p); err != nil {
			return usageError("%v", err)
		}
	}
	o.ReadOnly = true
	err := app.Reach(ctx, o, func(c *client.Client) error {
		err := do(c)
		if errors.Is(err, store.ErrNotFound) {
			if _, none := c.Thread(ctx, thread); none == nil {
				err = failedWith(fmt.Errorf("%w; `pudu threads files %s` lists what there is", err, thread))
			}
		}
		return err
	})
	switch coded, ok := errors.AsType[*codeError](err); {
	case ok:
		return coded
	case errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("there is no thread %q (%w); `pudu threads` lists the threads", thread, err)
	}
	return failedWith(err)
}

// inThread refuses a path that leads to no files of a thread.
func inThread(name string) error {
	at, err := threadfiles.Below(sandbox.UserData, name)
	if err != nil || at == sandbox.UserData {
		return err
	}
	for _, root := range []string{sandbox.Workspace, sandbox.Uploads, sandbox.Outputs} {
		if at == root || strings.HasPrefix(at, root+"/") {
			return nil
		}
	}
	return fmt.Errorf("%.80q: %w", name, sandbox.ErrOutside)
}

func filesCommand(app App, o *Options, stdio IO) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "files THREAD [FOLDER]",
		Short: "List the files of a thread: size, time, who made them",
		Long: "List the files of a thread, or those of one of its folders, such as outputs or outputs/site: size, " +
			"time, who made them\n" +
			"as far as that is known. Works beside a server.",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shelved(cmd.Context(), app, *o, args[0], args[1:], func(c *client.Client) error {
				list, more, err := c.Tree(cmd.Context(), args[0], strings.Join(args[1:], ""), limit, 0)
				if err != nil {
					return err
				}
				return printFiles(stdio, list, more)
			})
		},
	}
	limitFlag(cmd.Flags(), &limit, 1000, threadfiles.MaxEntries)
	return cmd
}

func printFiles(stdio IO, list []threadfiles.Entry, more bool) error {
	var rows [][]string
	for _, e := range list {
		name, size, by := strings.TrimPrefix(e.Path, sandbox.UserData+"/"), string(e.Kind), ""
		switch e.Kind {
		case threadfiles.Folder:
			name += "/"
		case threadfiles.File:
			size = units.Bytes(float64(e.Size))
		}
		if e.MadeBy != nil {
			by = strings.TrimSpace(e.MadeBy.Kind + " " + e.MadeBy.RunID)
		}
		when := ""
		if !e.Modified.IsZero() {
			when = e.Modified.Local().Format(time.DateTime) //nolint:gosmopolitan // read by a person, here
		}
		rows = append(rows, []string{size, when, inert.Line(by), inert.Line(name)})
	}
	if more {
		fmt.Fprintln(stdio.Err, "There are more; name a folder, or raise --limit.")
	}
	return printTable(stdio.Out, rows)
}

func downloadCommand(app App, o *Options, stdio IO) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "download THREAD [PATH...]",
		Short: "Write a ZIP of the files of a thread",
		Long: "Write a ZIP of the files and folders at the paths, such as outputs or outputs/report.pdf; of all " +
			"without any. What no\n" +
			"archive can have, such as links that lead elsewhere, is named in it in LEFT-OUT.txt. Works beside a " +
			"server.",
		Args: cobra.RangeArgs(1, 1+threadfiles.MaxPaths),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			if !cmd.Flags().Changed("out") {
				out = args[0] + ".zip"
			}
			err := shelved(ctx, app, *o, args[0], args[1:], func(c *client.Client) error {
				return writeNew(out, stdio.Out, func(w io.Writer) error { return c.Zip(ctx, args[0], args[1:], w) })
			})
			if err == nil && out != "-" {
				fmt.Fprintln(stdio.Err, "Wrote "+out+".")
			}
			return cutOff(ctx, err)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "",
		"`FILE` to write, which must not exist; - is standard output (default THREAD.zip)")
	return cmd
}
