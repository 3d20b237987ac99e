package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/inert"
)

func usersCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{Use: "users", Short: "Look after users", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(&cobra.Command{
		Use:   "delete USER",
		Short: "Remove a user with everything that belongs to him: threads, items, agents, files",
		Long: "Remove a user with everything that belongs to him: his runs are cancelled, then his threads, items, " +
			"assistants and files\n" +
			"removed. It cannot be undone. A server may be at work. Tokens and the rows of the audit log stay: pudu " +
			"token\n" +
			"revoke ends the former.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := app.DeleteUser(cmd.Context(), *o, args[0])
			if err != nil {
				return failedWith(err)
			}
			fmt.Fprintf(stdio.Err, "Deleted user %s: %s, %s.\n", inert.Line(args[0]), Count(f.Threads, "thread"),
				Count(f.Rows, "other row"))
			return nil
		},
	})
	return cmd
}
