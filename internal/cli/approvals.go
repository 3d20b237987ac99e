package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

func approvalsCommand(app App, o *Options, stdio IO) *cobra.Command {
	var revoked bool
	list := func(cmd *cobra.Command, _ []string) error {
		return failedWith(settle(cmd, app, o, func(c *client.Client) error {
			return printApprovals(cmd.Context(), client.Approvals{Client: c}, stdio, revoked)
		}))
	}
	cmd := &cobra.Command{
		Use: "approvals", Short: "List the calls that are approved without asking; revoke some", Args: cobra.NoArgs,
		RunE: list,
		Long: "List what you have approved for calls to come: with the answer \"in this thread\" or \"always\" to a " +
			"call that waited,\n" +
			"or by pudu run --approve --scope. What is revoked is asked about again at the next call, in runs that " +
			"work too.",
	}
	serverFlags(cmd.PersistentFlags(), o)
	sub := &cobra.Command{Use: "list", Short: "List them", Args: cobra.NoArgs, RunE: list}
	for _, c := range []*cobra.Command{cmd, sub} {
		c.Flags().BoolVar(&revoked, "revoked", false, "also those that were revoked")
	}
	cmd.AddCommand(sub, revokeCommand(app, o, stdio))
	return cmd
}

func revokeCommand(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID...", Short: "Take approvals back", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return failedWith(settle(cmd, app, o, func(c *client.Client) error {
				for _, id := range args {
					err := client.Approvals{Client: c}.Revoke(cmd.Context(), id)
					if errors.Is(err, store.ErrNotFound) {
						err = fmt.Errorf("there is no approval %q, or it is revoked already; `pudu approvals` lists "+
							"them", id)
					}
					if err != nil {
						return err
					}
					fmt.Fprintf(stdio.Err, "Revoked %s.\n", id)
				}
				return nil
			}))
		},
	}
}

func printApprovals(ctx context.Context, a client.Approvals, stdio IO, revoked bool) error {
	list, err := a.List(ctx, revoked, 1000, 0)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(stdio.Err, "Nothing is approved without asking.")
		return nil
	}
	rows := make([][]string, len(list))
	for i, g := range list {
		where := "always"
		if g.ThreadID != "" {
			where = "thread " + g.ThreadID
		}
		used := "never used"
		if g.Uses > 0 {
			used = "used " + Count(int(g.Uses), "time") + ", last " + localTime(g.UsedAt)
		}
		given := "given " + localTime(g.GivenAt) + " by " + inert.Line(g.Via)
		if !g.RevokedAt.IsZero() {
			given += ", REVOKED " + localTime(g.RevokedAt)
		}
		match := "exactly "
		if !g.Pattern.Exact {
			match = "like "
		}
		rows[i] = []string{g.ID, g.Tool, match + inert.Line(g.Pattern.Text), where, used, given}
	}
	return printTable(stdio.Out, rows)
}

func localTime(t time.Time) string {
	return t.Local().Format(time.DateTime) //nolint:gosmopolitan // read by a person, here
}
