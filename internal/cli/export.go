package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/durable"
	"github.com/pudu-ai/pudu/internal/store"
)

func exportCommand(app App, o *Options, stdio IO) *cobra.Command {
	var out, run string
	var test bool
	cmd := &cobra.Command{
		Use:   "export THREAD",
		Short: "Write everything that is stored of a thread, as JSON Lines",
		Long: "Write everything that is stored of a thread, as JSON Lines: the thread, its runs, and its log with " +
			"every update of\n" +
			"the state and every event. The thread's files are not in it; `pudu backup` takes them too. Works beside " +
			"a server.\n" +
			"With --test it writes one finished run as a regression test for `pudu replay`.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !test && run != "" {
				return usageError("--run belongs to --test")
			}
			if test {
				if !cmd.Flags().Changed("out") {
					out = "" // named after the thread
				}
				return exportTest(cmd.Context(), app, *o, stdio, args[0], run, out)
			}
			return export(cmd.Context(), app, *o, stdio, args[0], out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "-",
		"`FILE` to write, which must not exist; - is standard output (default with --test: <thread>.replay.yaml)")
	cmd.Flags().BoolVar(&test, "test", false, "write a finished run as a regression test")
	cmd.Flags().StringVar(&run, "run", "", "with --test: `ID` of the run (default: the thread's last finished one)")
	return cmd
}

func export(ctx context.Context, app App, o Options, stdio IO, threadID, out string) error {
	ctx, stop := interruptible(ctx, stdio, errInterrupted)
	defer stop()
	s, err := look(ctx, app, o)
	if err != nil {
		return err
	}
	defer closeSession(s)
	err = writeNew(out, stdio.Out, func(w io.Writer) error {
		_, err := s.Store.DumpThread(ctx, threadID, w)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return &codeError{ExitFailed, fmt.Errorf("there is no thread %q; `pudu threads` lists them", threadID)}
	}
	if err != nil {
		return cutOff(ctx, err)
	}
	return nil
}

// look opens the store for reading, beside whoever uses it.
func look(ctx context.Context, app App, o Options) (*Session, error) {
	o.ReadOnly = true
	s, err := app.Open(ctx, o)
	return s, failedWith(err)
}

// failedWith gives an error the exit code of a command that failed; nil stays nil.
func failedWith(err error) error {
	if err == nil {
		return nil
	}
	return &codeError{ExitFailed, err}
}

// writeNew writes a file that does not exist yet, or standard output if name is "-". The file appears when all of it is
// on disk, readable by its owner alone; a failure leaves none.
func writeNew(name string, stdout io.Writer, write func(io.Writer) error) error {
	if name == "-" {
		buffered := bufio.NewWriter(stdout)
		return errors.Join(write(buffered), buffered.Flush())
	}
	if _, err := os.Lstat(name); err == nil {
		return usageError("%s exists already; name another file, or remove it first", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".pudu-*.part")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(f.Name())
	buffered := bufio.NewWriterSize(f, 256<<10)
	err = write(buffered)
	if err == nil {
		err = errors.Join(buffered.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil { // unlike a rename, it replaces nothing
		return renameNew(f.Name(), name)
	}
	return durable.Sync(filepath.Dir(name))
}

// renameNew is for file systems without hard links.
func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists already; name another file, or remove it first", to)
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(to))
}
