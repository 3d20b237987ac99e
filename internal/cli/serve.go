package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func serveCommand(app App, o *Options, stdio IO) *cobra.Command {
	open := false
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the LangGraph API, go on with unfinished runs, and carry out what pudu run hands in",
		Long: "Hold the data folder and carry out the runs of it: first those that an earlier process left " +
			"unfinished, then\n" +
			"those that come in by HTTP or from pudu run in other terminals. Ctrl-C stops it, twice at once; what is " +
			"under way then goes on at\n" +
			"the next start.",
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
				greet(ctx, stdio, look, s)
				if open {
					openPages(ctx, s.Address)
				}
				if s.Toolbox != nil {
					go offer(ctx, stdio, s.Toolbox) // whoever does not answer is not waited for
				}
			})
		},
	}
	cmd.Flags().StringVar(&o.Model, "model", "", "model `NAME` of the configuration, or provider/model")
	cmd.Flags().StringVar(&o.Addr, "addr", "", "listen at `HOST:PORT` (default: $PUDU_ADDR, then 127.0.0.1:2026)")
	cmd.Flags().BoolVar(&o.Insecure, "insecure", false,
		"let everybody in who reaches an address beyond this machine, without a token ($PUDU_TOKEN)")
	cmd.Flags().BoolVar(&open, "open", false,
		"show the pages in a browser when they are there, if somebody sits at this machine")
	adoptFlag(cmd.Flags(), o)
	cmd.Flags().StringVar(&o.NATS, "nats", "",
		"NATS `URL` that servers of one PostgreSQL share for live events (default: $PUDU_NATS)")
	return cmd
}

// greet says what is up, where, and how to try it.
func greet(ctx context.Context, stdio IO, look style, s *Session) {
	fmt.Fprintf(stdio.Err, "%s %s\n", look.bold("Pudu is ready at"), look.bold(s.Address))
	model := s.Model
	if s.Why != "" {
		model += " (" + s.Why + ")"
	}
	if s.NoModel != nil {
		model = "none: runs are refused until there is one"
	}
	fmt.Fprintf(stdio.Err, "  model    %s\n  sandbox  %s\n  data     %s\n", model, s.Sandbox, s.Data)
	if s.Toolbox != nil {
		fmt.Fprintf(stdio.Err, "  toolbox  %s\n", standing(s.Toolbox.Status(ctx)))
	}
	if s.NoModel != nil {
		fmt.Fprintf(stdio.Err, "There is %v\n", s.NoModel)
	}
	try, terminal := "Try", "another terminal"
	if s.NoModel != nil {
		try = "Until then, play the scripted demonstration"
	}
	if s.Token {
		terminal += ", where PUDU_TOKEN is the server's token"
	}
	fmt.Fprintf(stdio.Err, "%s, in %s:\n", try, terminal)
	for _, command := range s.Examples {
		fmt.Fprintln(stdio.Err, "  "+command)
	}
	fmt.Fprintln(stdio.Err, "Ctrl-C stops it; what is under way then goes on at the next start.")
}
