package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func serveCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Hold the data folder, go on with unfinished runs, and carry out what pudu run hands in",
		Long: "Hold the data folder and carry out the runs of it: first those that an earlier process left unfinished, then\n" +
			"those that pudu run hands in from other terminals. Ctrl-C stops it, twice at once; what is under way then goes on at the next start.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			go func() {
				select {
				case <-stdio.Signals:
					stop()
				case <-ctx.Done():
					return
				}
				<-stdio.Signals // who does not want to wait; what is under way goes on at the next start all the same
				os.Exit(ExitCancelled)
			}()
			look := stdio.errStyle()
			return app.Serve(ctx, *o, func(s *Session) {
				for _, note := range s.Notes {
					fmt.Fprintln(stdio.Err, look.yellow("! "+note))
				}
				if s.Scripted {
					fmt.Fprintln(stdio.Err, s.NoModel+"\nUntil then each task is answered with the scripted demonstration.")
				}
				fmt.Fprintf(stdio.Err, "Pudu is ready: model %s, sandbox %s. Ctrl-C stops it.\n", s.Model, s.Sandbox)
			})
		},
	}
	cmd.Flags().StringVar(&o.Model, "model", "", "model `NAME` of the configuration, or provider/model")
	return cmd
}
