package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/sandbox"
)

func replayCommand(app App, o *Options, stdio IO) *cobra.Command {
	var mounts []string
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Run recorded runs again and show the first difference of each",
		Long: "Run recorded runs again, with the recorded turns as the model and everything else real, in a " +
			"temporary data folder, and\n" +
			"show the first difference of each. `pudu export THREAD --test` makes a recording. The exit code is 1 if " +
			"a run differs,\n" +
			"2 if a file is no recording.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			look := *o
			var err error
			if look.Mounts, err = parseMounts(mounts); err != nil {
				return err
			}
			return replayFiles(cmd.Context(), app, look, stdio, args)
		},
	}
	cmd.Flags().StringArrayVar(&mounts, "mount", nil,
		"show `DIR[:rw]` at /mnt/<its name>, as the recorded run did (repeatable)")
	return cmd
}

// replayFiles replays one file after the other. A file that cannot be read or run does not keep the others from being
// run.
func replayFiles(ctx context.Context, app App, o Options, stdio IO, files []string) error {
	ctx, stop := interruptible(ctx, stdio, runs.ErrCancelled)
	defer stop()
	code, told := ExitOK, make(map[string]bool)
	note := func(text string) { // once, however many files there are
		if !told[text] {
			fmt.Fprintln(stdio.Err, stdio.errStyle().yellow("! "+inert.Line(text)))
		}
		told[text] = true
	}
	for _, name := range files {
		report, err := replayFile(ctx, app, o, name, note)
		switch {
		case ctx.Err() != nil:
			return &codeError{ExitCancelled, context.Cause(ctx)}
		case err != nil:
			fmt.Fprintln(stdio.Err, "pudu: "+inert.Text(err.Error()))
			code = max(code, exitOf(err))
		default:
			printReport(stdio.Out, name, report)
			if report.Difference != nil {
				code = max(code, ExitFailed)
			}
		}
	}
	if code != ExitOK {
		return &codeError{code, errors.New("")}
	}
	return nil
}

func exitOf(err error) int {
	if coded, ok := errors.AsType[*codeError](err); ok {
		return coded.code
	}
	return ExitFailed
}

func replayFile(ctx context.Context, app App, o Options, name string, note func(string)) (replay.Report, error) {
	r, err := replay.Load(name)
	if err != nil {
		return replay.Report{}, &codeError{ExitUsage, err}
	}
	report, err := replay.Play(ctx, r, replay.Options{
		Beside: name + ".files",
		Open: func(ctx context.Context, r *replay.Recording, p *replay.Player) (*replay.Bench, error) {
			return app.Bench(ctx, o, r, p, note)
		},
	})
	if err != nil {
		return report, fmt.Errorf("%s: %w", name, err)
	}
	return report, nil
}

func printReport(w io.Writer, name string, r replay.Report) {
	word := "ok  "
	if r.Difference != nil {
		word = "FAIL"
	}
	fmt.Fprintf(w, "%s  %s  (%s, %s, %.1f s)\n", word, name,
		Count(r.Turns, "model turn"), Count(r.Calls, "tool call"), r.Took.Round(100*time.Millisecond).Seconds())
	if r.Difference != nil {
		fmt.Fprintln(w, "  "+inert.Text(r.Difference.String()))
	}
}

// Count is a number of things in words: 1 run, 2 runs.
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// exportTest writes a finished run as a recording. An empty run is the thread's last finished one; an empty out is a
// file named after the thread.
func exportTest(ctx context.Context, app App, o Options, stdio IO, threadID, runID, out string) error {
	s, err := look(ctx, app, o)
	if err != nil {
		return err
	}
	defer closeSession(s)
	r, err := record(ctx, s, threadID, runID)
	if err != nil {
		return failedWith(err)
	}
	raw, err := replay.Encode(r)
	if err != nil {
		return failedWith(err)
	}
	if out == "" {
		out = threadID + ".replay.yaml"
	}
	err = writeNew(out, stdio.Out, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	if exitOf(err) == ExitUsage {
		return err
	}
	if err != nil || out == "-" {
		return failedWith(err)
	}
	if len(r.Before) > 0 {
		fmt.Fprintln(stdio.Err,
			"The run continued a conversation. What its files were then is known of those alone that were not "+
				"changed since.")
	}
	fmt.Fprintf(stdio.Err, "%s: %s, %s; run it again with: pudu replay %s\n", out, Count(len(r.Turns), "model turn"),
		Count(r.Calls(), "tool call"), out)
	return nil
}

func record(ctx context.Context, s *Session, threadID, runID string) (*replay.Recording, error) {
	t, err := s.Store.Thread(ctx, threadID)
	if err != nil {
		return replay.Record(ctx, replay.Source{Store: s.Store}, threadID, runID)
	}
	var files *sandbox.Files
	if s.Files != nil {
		if files, err = s.Files(t); err != nil {
			return nil, err
		}
	}
	if files != nil {
		defer files.Close()
	}
	return replay.Record(ctx, replay.Source{Store: s.Store, Files: files}, threadID, runID)
}
