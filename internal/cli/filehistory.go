package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// lookedAt is how many of a thread's runs are looked at for the last one that has changed something.
const lookedAt = 50

// changedBy finds what a run has changed; without one, the last that has changed anything.
func changedBy(ctx context.Context, h client.FileHistory, thread, run string) (string, filehistory.Report, error) {
	ids := []string{run}
	if run == "" {
		var err error
		if ids, err = h.Runs(ctx, thread, lookedAt); err != nil {
			return "", filehistory.Report{}, err
		}
		if len(ids) == 0 {
			return "", filehistory.Report{}, store.ErrNotFound
		}
	}
	for _, id := range ids {
		if r, err := h.Changes(ctx, thread, id); err != nil || r.Available {
			return id, r, err
		}
	}
	return run, filehistory.Report{}, nil
}

func withHistory(cmd *cobra.Command, app App, o *Options, thread string, do func(client.FileHistory) error) error {
	err := app.Reach(cmd.Context(), *o, func(c *client.Client) error { return do(client.FileHistory{Client: c}) })
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("there is no thread %q that has runs; `pudu threads` lists them", thread)
	}
	return failedWith(err)
}

func diffCommand(app App, o *Options, stdio IO) *cobra.Command {
	var run string
	var names bool
	cmd := &cobra.Command{
		Use: "diff THREAD", Short: "Show what a run has changed in the thread's workspace and outputs",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withHistory(cmd, app, o, args[0], func(h client.FileHistory) error {
				id, r, err := changedBy(cmd.Context(), h, args[0], run)
				if err != nil {
					return err
				}
				if !r.Available {
					fmt.Fprintln(stdio.Err, "No changes of files are known"+ofRun(id)+".")
					return nil
				}
				printChanges(stdio, id, r, names)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&run, "run", "",
		"what the run with this `ID` has changed (default: the last run that has changed anything)")
	cmd.Flags().BoolVar(&names, "names", false, "names alone")
	return cmd
}

func ofRun(id string) string {
	if id == "" {
		return ""
	}
	return " of run " + inert.Line(id)
}

// printChanges prints the diffs to the output, which is what patch reads, and what there is to say of them beside it.
func printChanges(stdio IO, run string, r filehistory.Report, names bool) {
	for _, f := range r.Files {
		line := fmt.Sprintf("%-8s %s", strings.TrimPrefix(f.Status, "symlink_"), inert.Line(f.Path))
		switch {
		case f.TargetAfter != nil:
			line += " -> " + inert.Line(*f.TargetAfter)
		case f.Unavailable != nil:
			line += " (" + without(*f.Unavailable) + ")"
		}
		if names || f.Diff == "" {
			fmt.Fprintln(stdio.Out, line)
			continue
		}
		for text := range strings.SplitSeq(f.Diff, "\n") {
			fmt.Fprintln(stdio.Out, inert.Line(text))
		}
	}
	s := r.Summary
	fmt.Fprintf(stdio.Err, "Run %s: %d created, %d modified, %d deleted, %s; +%d -%d.\n", inert.Line(run), s.Created,
		s.Modified, s.Deleted,
		Count(s.SymlinkCreated, "link"), s.Additions, s.Deletions)
	if s.Truncated {
		fmt.Fprintln(stdio.Err, "There are more changes than are shown.")
	}
}

// without says why a change has no diff.
func without(reason string) string {
	switch reason {
	case filehistory.NotKept:
		return "no copy was kept"
	case filehistory.Sensitive:
		return "its name says that it is secret"
	case filehistory.Truncated, filehistory.Large:
		return "too large to show"
	}
	return reason
}

func undoCommand(app App, o *Options, stdio IO) *cobra.Command {
	var u filehistory.Undo
	cmd := &cobra.Command{
		Use:   "undo THREAD [PATH...]",
		Short: "Take back what a run has changed in the thread's files",
		Long: "Take back what a run has changed in the thread's files: contents, names, modes, links. What was " +
			"changed again\n" +
			"since is listed, and nothing is done, unless --force says so. An undo has an id, by which it can be " +
			"undone too.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, p := range args[1:] {
				clean, err := sandbox.CleanPath(p)
				if err != nil {
					return usageError("%.80q: %v", p, err)
				}
				u.Paths = append(u.Paths, clean)
			}
			return withHistory(cmd, app, o, args[0], func(h client.FileHistory) error {
				id, _, err := changedBy(cmd.Context(), h, args[0], u.Run)
				if err != nil {
					return err
				}
				if u.Run = id; id == "" {
					return errors.New("no changes of files are known; `pudu threads diff` shows those of a run")
				}
				out, err := h.Undo(cmd.Context(), args[0], u)
				if err != nil {
					return err
				}
				return printUndone(stdio, args[0], u, out)
			})
		},
	}
	cmd.Flags().StringVar(&u.Run, "run", "",
		"what the run, or the undo, with this `ID` has changed (default: the last run that has changed anything)")
	cmd.Flags().BoolVar(&u.Force, "force", false, "also what was changed again since")
	cmd.Flags().BoolVar(&u.Dry, "dry-run", false, "only say what would be done")
	return cmd
}

// printUndone says what was done, path by path; what was not is an error.
func printUndone(stdio IO, thread string, u filehistory.Undo, out filehistory.Undone) error {
	refused := !out.Done && !u.Dry
	for _, list := range []struct {
		word  string
		paths []string
	}{{"restored", out.Restored}, {"removed", out.Removed}} {
		for _, p := range list.paths {
			if !refused {
				fmt.Fprintf(stdio.Out, "%-8s %s\n", list.word, inert.Line(p))
			}
		}
	}
	for _, list := range []struct {
		word  string
		paths []filehistory.Named
	}{{"conflict", out.Conflicts}, {"not restorable", out.NotRestorable}, {"left", out.Left}} {
		for _, n := range list.paths {
			fmt.Fprintf(stdio.Err, "%s: %s: %s\n", list.word, inert.Line(n.Path), inert.Line(n.Reason))
		}
	}
	switch {
	case refused:
		return errors.New("nothing was undone; --force also takes back what was changed again since, or name the " +
			"paths to undo")
	case u.Dry:
		fmt.Fprintln(stdio.Err, "Nothing was changed (--dry-run).")
	case out.ID == "":
		fmt.Fprintln(stdio.Err, "There is nothing left to undo.")
	default:
		fmt.Fprintf(stdio.Err, "Undone. To take that back: %s threads undo %s --run %s\n", stdio.program(),
			inert.Line(thread), out.ID)
	}
	return nil
}
