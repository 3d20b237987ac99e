package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

func sessionsCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "List the browsers that are signed in, those that were used last first; end a session",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list []session.Session
			err := app.Reach(cmd.Context(), *o, func(c *client.Client) (err error) {
				list, err = client.Sessions{Client: c}.List(cmd.Context())
				return err
			})
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return failedWith(err)
			case len(list) == 0:
				fmt.Fprintln(stdio.Err, "No browser is signed in.")
				return nil
			}
			rows := make([][]string, len(list))
			for i, s := range list {
				at := func(t time.Time) string { return t.Local().Format(time.DateTime) } //nolint:gosmopolitan // read by a person, here
				rows[i] = []string{s.ID, at(s.Begun), "ends " + at(s.Ends), inert.Line(s.Token), inert.Line(s.Agent)}
			}
			return printTable(stdio.Out, rows)
		},
	}
	serverFlags(cmd.PersistentFlags(), o)
	cmd.AddCommand(&cobra.Command{
		Use: "end SESSION...", Short: "End sessions: these browsers have to sign in again", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return failedWith(app.Reach(cmd.Context(), *o, func(c *client.Client) error {
				for _, id := range args {
					err := client.Sessions{Client: c}.End(cmd.Context(), id)
					if errors.Is(err, session.ErrNone) {
						err = fmt.Errorf("there is no session %q; `pudu sessions` lists them", id)
					}
					if err != nil {
						return err
					}
					fmt.Fprintln(stdio.Err, "Ended session "+id+".")
				}
				return nil
			}))
		},
	})
	return cmd
}
