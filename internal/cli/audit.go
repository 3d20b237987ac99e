package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

func auditCommand(app App, o *Options, stdio IO) *cobra.Command {
	var f audit.Filter
	var since string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who did what: sign-ins, refusals, deletions, settings, approvals",
		Long: "List who did what to which object, the newest first: tokens that were brought for the first time or\n" +
			"refused, calls that the caller had no right to, deletions, changes of settings and tokens, and who " +
			"approved or\n" +
			"rejected which call.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if f.Since, err = sinceOf(since, time.Now()); err != nil {
				return err
			}
			list, err := app.Audit(cmd.Context(), *o, f)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // nothing was done yet
			}
			if err != nil {
				return failedWith(err)
			}
			return printAudit(stdio, list, asJSON)
		},
	}
	cmd.Flags().StringVar(&f.User, "user", "", "only what the user with this `ID` did")
	cmd.Flags().StringVar(&since, "since", "", "since a `TIME`, such as 36h (ago), 2026-03-14 or 2026-03-14T15:09:26Z")
	limitFlag(cmd.Flags(), &f.Limit, 100, 1000)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	serverFlags(cmd.Flags(), o)
	return cmd
}

// sinceOf reads a time, or how long ago it was.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usageError("--since %.40q is no time: take 36h (ago), 2026-03-14 or 2026-03-14T15:09:26Z", text)
}

func printAudit(stdio IO, list []audit.Entry, asJSON bool) error {
	if asJSON {
		return printLines(stdio.Out, list)
	}
	rows := make([][]string, len(list))
	for i, e := range list {
		what := string(e.Verb) + " " + e.Kind + " " + e.Object
		if e.Refused != "" {
			what += " REFUSED: " + e.Refused
		}
		if e.Times > 1 {
			what += fmt.Sprintf(" (%d times)", e.Times)
		}
		at := e.At.Local().Format(time.DateTime) //nolint:gosmopolitan // read by a person, here
		rows[i] = []string{at, inert.Line(e.User), inert.Line(e.Via), inert.Line(what)}
	}
	return printTable(stdio.Out, rows)
}
