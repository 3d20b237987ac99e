package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func reloadCommand(app App, o *Options, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Have the server of the data folder read its configuration again",
		Long: "Have the server that holds the data folder read its configuration again, as SIGHUP does. Runs that " +
			"are under way keep what\n" +
			"they began with. A configuration with a mistake is refused and changes nothing; what needs a restart is " +
			"named.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			notes, restart, err := app.Reload(ctx, *o)
			if err != nil {
				return cutOff(ctx, err)
			}
			look := stdio.errStyle()
			for _, note := range notes {
				fmt.Fprintln(stdio.Err, look.yellow("! "+note))
			}
			if len(restart) > 0 {
				fmt.Fprintln(stdio.Err, look.yellow("! has no effect before the server is started again: "+
					strings.Join(restart, ", ")))
			}
			fmt.Fprintln(stdio.Out, "The configuration was read again. Runs that begin from now on have it.")
			return nil
		},
	}
}
