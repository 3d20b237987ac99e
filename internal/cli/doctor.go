package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/inert"
)

func doctorCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine the sandbox, the model, the configuration and everything that is stored",
		Long: "Examine the configuration, the disk, the sandbox and the model, and read everything that is stored: " +
			"each thread's\n" +
			"state is made from its log again, and the files that it names are looked for. Works beside a server. " +
			"Damage gives\n" +
			"exit code 1; what is marked with ! is worth a look. pudu doctor model finds out whether a model is good " +
			"enough to be an agent.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			failed := 0
			look := style{on: stdio.OutTTY && !stdio.Plain}
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			app.Doctor(ctx, *o, func(c Check) {
				mark := look.good()
				switch {
				case !c.OK:
					mark = look.bad()
					failed++
				case c.Warning:
					mark = look.yellow("!")
				}
				fmt.Fprintf(stdio.Out, "%s %-10s %s\n", mark, c.Name, inert.Line(c.Detail))
				if c.Remedy != "" {
					fmt.Fprintf(stdio.Out, "  %-10s → %s\n", "", c.Remedy)
				}
			})
			if failed > 0 {
				return &codeError{ExitFailed, errors.New(Count(failed, "check") + " failed")}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Model, "model", "", "model `NAME` or provider/model to examine")
	cmd.AddCommand(doctorModelCommand(app, o, stdio))
	return cmd
}
