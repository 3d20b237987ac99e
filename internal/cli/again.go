package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// againCommands are those that go on from an earlier place of a thread.
func againCommands(app App, o *Options, stdio IO) []*cobra.Command {
	return []*cobra.Command{branchesCommand(app, o, stdio), branchCommand(app, o, stdio),
		regenerateCommand(app, o, stdio), editCommand(app, o, stdio)}
}

// withPast has do work with the past of threads.
func withPast(ctx context.Context, app App, o Options, stdio IO, thread string, do func(*Session) error) error {
	s, err := openToRun(ctx, app, o, stdio)
	if err != nil {
		return failedWith(err)
	}
	defer closeSession(s)
	err = do(s)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w; `pudu threads` lists the threads, `pudu threads export %s --format json` the messages "+
			"of one with their ids", err, thread)
	}
	return failedWith(err)
}

func branchesCommand(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "branches THREAD", Short: "List the threads that go on from an answer of a thread",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPast(cmd.Context(), app, *o, stdio, args[0], func(s *Session) error {
				list, err := s.API().Branches(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if len(list) == 0 {
					fmt.Fprintf(stdio.Err, "Thread %s has no branches. Begin one with: pudu threads branch %[1]s\n",
						args[0])
					return nil
				}
				rows := make([][]string, len(list))
				for i, b := range list {
					at := b.Made.Local().Format(time.DateTime) //nolint:gosmopolitan // read by a person, here
					rows[i] = []string{b.Thread, at, inert.Line(b.Message), inert.Line(b.Title)}
				}
				return printTable(stdio.Out, rows)
			})
		},
	}
}

// filesFlag is the flag that says which files there are to be.
func filesFlag(cmd *cobra.Command, files *string, rule string) {
	cmd.Flags().StringVar(files, "files", "",
		"`then` for the files as they were at that turn, now for those of now (default: "+rule+")")
}

func checkFiles(files string) error {
	if files != "" && files != runs.FilesThen && files != "now" {
		return usageError("--files takes then or now, not %q", files)
	}
	return nil
}

func branchCommand(app App, o *Options, stdio IO) *cobra.Command {
	var message, title, files string
	cmd := &cobra.Command{
		Use: "branch THREAD", Short: "Begin a thread that goes on from an answer of a thread, and print its id",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFiles(files); err != nil {
				return err
			}
			return withPast(cmd.Context(), app, *o, stdio, args[0], func(s *Session) error {
				id, err := s.API().Branch(cmd.Context(), args[0], message, title, files)
				if err == nil {
					fmt.Fprintln(stdio.Out, id)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&message, "message", "", "the `ID` of the answer to go on from (default: the last one)")
	cmd.Flags().StringVar(&title, "title", "", "the `TITLE` of the branch (default: that of the thread)")
	filesFlag(cmd, &files, "those of now, behind the last answer; else none")
	return cmd
}

func regenerateCommand(app App, o *Options, stdio IO) *cobra.Command {
	return againCommand(app, o, stdio, &cobra.Command{
		Use: "regenerate THREAD", Short: "Have an answer given once more; the earlier one stays a version of it",
		Long: "Have an answer given once more: the words before it are answered anew, on the state that they were " +
			"said on. The\n" +
			"earlier answer, and what was said behind it, stay a version. What the agent asks is answered as with " +
			"pudu run.",
		Args: cobra.ExactArgs(1),
	}, "the `ID` of the answer (default: the last one)")
}

func editCommand(app App, o *Options, stdio IO) *cobra.Command {
	return againCommand(app, o, stdio, &cobra.Command{
		Use:   "edit THREAD WORDS...",
		Short: "Say other words in the place of those that were said, and have them answered",
		Long: "Say other words in the place of those that were said, and have them answered, on the state that the " +
			"first were said\n" +
			"on. The earlier words, and what was said behind them, stay a version. What the agent asks is answered " +
			"as with pudu run.",
		Args: cobra.MinimumNArgs(2),
	}, "the `ID` of the message (default: the last that a person sent)")
}

// againCommand is a command whose run stands in the place of another one.
func againCommand(app App, o *Options, stdio IO, cmd *cobra.Command, which string) *cobra.Command {
	var f runFlags
	var again runs.Again
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		again.Thread, again.Text = args[0], strings.TrimSpace(strings.Join(args[1:], " "))
		if err := checkFiles(again.Files); err != nil {
			return err
		}
		if len(args) > 1 && again.Text == "" {
			return usageError("the words are empty")
		}
		return withPast(cmd.Context(), app, *o, stdio, args[0], func(s *Session) error {
			req, err := s.API().Prepare(cmd.Context(), again)
			if err != nil {
				return err
			}
			t := &turn{session: s, flags: f, io: stdio, options: *o, thread: args[0]}
			if s.NoModel != nil {
				return s.NoModel
			}
			return t.converse(cmd.Context(), t.replay(req))
		})
	}
	flags := cmd.Flags()
	flags.StringVar(&again.Message, "message", "", which)
	flags.StringVar(&o.Model, "model", "", "model `NAME` of the configuration, or provider/model")
	flags.BoolVar(&f.json, "json", false, "print the events as JSON lines instead of the answer")
	flags.StringVar(&f.out, "out", ".", "`DIR` that gets copies of the presented files; empty for none")
	flags.IntVar(&f.maxSteps, "max-steps", 0, "bound on model and tool steps (default 1000)")
	filesFlag(cmd, &again.Files, "those of now")
	return cmd
}

// replay carries out a run that was prepared.
func (t *turn) replay(req runs.Request) carry {
	return func(ctx context.Context, w *watcher, show func(event.Event)) (runs.Outcome, error) {
		req.UserID, req.Model, req.MaxSteps = t.session.UserID, t.session.Model, t.flags.maxSteps
		return t.start(ctx, req, nil, w, show)
	}
}
