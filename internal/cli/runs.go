package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

func runsCommand(app App, o *Options, stdio IO) *cobra.Command {
	var all bool
	var limit int
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the unfinished runs, and why they are unfinished",
		Long: "List the runs that are not at their end, the newest first: those under way, those that a crash or a " +
			"kill\n" +
			"cut off, and those that wait for a person.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), app, *o, stdio, func(s *Session) error {
				return listRuns(cmd.Context(), s, stdio, all, limit, stdio.runCommand(*o))
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the finished ones too")
	limitFlag(cmd.Flags(), &limit, 20, 1000)
	serverFlags(cmd.Flags(), o)
	cmd.AddCommand(inspectCommand(app, o, stdio))
	return cmd
}

func listRuns(ctx context.Context, s *Session, stdio IO, all bool, limit int, again string) error {
	filter := store.RunFilter{Limit: limit}
	if !all {
		filter.Statuses = []string{event.StatusPending, event.StatusRunning}
	}
	found, err := s.List.ListRuns(ctx, filter)
	if err != nil {
		return err
	}
	if !all {
		waiting, err := waitingRuns(ctx, s, limit)
		if err != nil {
			return err
		}
		found = append(found, waiting...)
		slices.SortStableFunc(found, func(a, b store.Run) int { return b.CreatedAt.Compare(a.CreatedAt) })
		found = found[:min(len(found), limit)]
	}
	var rows [][]string
	for _, run := range found {
		why, err := whyOf(ctx, s, run, again)
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			run.ThreadID, run.UpdatedAt.Local().Format(time.DateTime), //nolint:gosmopolitan // read by a person, here
			run.Status, fmt.Sprintf("attempt %d", run.Attempt), inert.Line(why),
		})
	}
	if !all {
		asked, err := askedThreads(ctx, s, limit, again)
		if err != nil {
			return err
		}
		rows = append(rows, asked...)
	}
	if len(rows) == 0 {
		fmt.Fprintln(stdio.Err, "Nothing is unfinished.")
	}
	return printTable(stdio.Out, rows)
}

// waitingRuns are the runs that wait for a person, of the threads used last. A run that has got its answer stays
// interrupted; its thread does not.
func waitingRuns(ctx context.Context, s *Session, limit int) (waiting []store.Run, err error) {
	threads, err := s.List.SearchThreads(ctx, store.ThreadFilter{Status: store.ThreadInterrupted, Limit: limit})
	if err != nil {
		return nil, err
	}
	for _, t := range threads {
		last, err := s.List.ListRuns(ctx, store.RunFilter{
			ThreadID: t.ID, Statuses: []string{event.StatusInterrupted}, Limit: 1,
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) { // not found: deleted meanwhile
			return nil, err
		}
		for _, run := range last {
			if run.StopReason == "" { // it was not cancelled
				waiting = append(waiting, run)
			}
		}
	}
	return waiting, nil
}

// askedThreads are rows for those of the threads used last whose run has ended with a question: it goes on with the
// answer.
func askedThreads(ctx context.Context, s *Session, limit int, again string) (rows [][]string, err error) {
	threads, err := s.List.SearchThreads(ctx, store.ThreadFilter{Status: store.ThreadIdle, Limit: limit})
	if err != nil {
		return nil, err
	}
	for _, t := range threads {
		msgs, err := s.API().Messages(ctx, t.ID, 0)
		if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		if questions, _ := clarification.Open(msgs); len(questions) > 0 {
			rows = append(rows, []string{
				t.ID, t.UpdatedAt.Local().Format(time.DateTime), //nolint:gosmopolitan // read by a person, here
				"asked", "", fmt.Sprintf("%s; answer with: %s --thread %s \"ANSWER\"",
					clip(inert.Line(questions[0].Question), 60), again, t.ID),
			})
		}
	}
	return rows, nil
}

// whyOf says why a run is not at its end, or how it ended, and what to do about it.
func whyOf(ctx context.Context, s *Session, run store.Run, again string) (string, error) {
	switch {
	case run.Status == event.StatusInterrupted && run.StopReason == "":
		return fmt.Sprintf("waits for a person; decide with: %s --resume %s", again, run.ThreadID), nil
	case !run.Active():
		return strings.TrimSpace(run.StopReason + " " + run.Error), nil
	case s.Store == nil: // the server tells no more
		return map[string]string{event.StatusPending: "waits for its turn",
			event.StatusRunning: "under way in the server"}[run.Status], nil
	}
	owner, err := s.Owner(ctx, run)
	if err != nil {
		return "", err
	}
	working, err := runs.Working(ctx, s.Store, run)
	if err != nil {
		return "", err
	}
	at := "while the model was asked"
	if len(working) > 0 {
		var calls []string
		for _, c := range working {
			calls = append(calls, excerpt.Clip(callLine(c), 40))
		}
		at = "during " + strings.Join(calls, ", ")
	}
	if owner != "" {
		return "under way in " + owner + ", " + at, nil
	}
	return fmt.Sprintf("left by %s %s; go on with: %s --resume %s", run.Owner, at, again, run.ThreadID), nil
}
