package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/access/bearer"
	"github.com/pudu-ai/pudu/internal/feature/audit"
)

func tokenCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Add, list and revoke the named tokens of those who call the server",
		Long: "Named tokens stand beside $PUDU_TOKEN, in the file \"tokens\" of the data folder ($PUDU_TOKENS_FILE " +
			"names another one).\n" +
			"A server sees a change with the next request. Once there is a token, or was one, whoever calls must " +
			"bring one. All of\n" +
			"them act for the same user; the log names them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(addToken(app, o, stdio), listTokens(app, o, stdio), revokeToken(app, o, stdio))
	return cmd
}

func addToken(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "add NAME", Short: "Make a token and print it; it cannot be shown again", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := app.TokensFile(*o)
			if err != nil {
				return err
			}
			secret, err := bearer.Add(path, args[0], time.Now())
			if err != nil {
				return &codeError{ExitFailed, err}
			}
			app.Record(cmd.Context(), *o, audit.Change, "token", args[0])
			fmt.Fprintln(stdio.Err, "Send it as \"Authorization: Bearer ...\"; it cannot be shown again:")
			fmt.Fprintln(stdio.Out, secret)
			return nil
		},
	}
}

func listTokens(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tokens by name", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := app.TokensFile(*o)
			if err != nil {
				return err
			}
			tokens, err := bearer.List(path) // an error leaves those that could be read
			var rows [][]string
			for _, t := range tokens {
				rows = append(rows, []string{t.Name, "since " + t.Created.Format(time.RFC3339)})
			}
			if err = errors.Join(err, printTable(stdio.Out, rows)); err != nil {
				return &codeError{ExitFailed, err}
			}
			return nil
		},
	}
}

func revokeToken(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Take a token away; requests with it are refused from the next one on",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := app.TokensFile(*o)
			if err != nil {
				return err
			}
			if err := bearer.Revoke(path, args[0]); err != nil {
				return &codeError{ExitFailed, err}
			}
			app.Record(cmd.Context(), *o, audit.Delete, "token", args[0])
			fmt.Fprintln(stdio.Err, "revoked "+args[0])
			return nil
		},
	}
}
