package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/inert"
)

func doctorCommand(app App, o *Options, stdio IO) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine the sandbox, the model, the data folder and the configuration",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			failed := 0
			look := style{on: stdio.OutTTY && !stdio.Plain}
			app.Doctor(cmd.Context(), *o, func(c Check) {
				mark := look.green("✓")
				if !c.OK {
					mark = look.red("✗")
					failed++
				}
				fmt.Fprintf(stdio.Out, "%s %-10s %s\n", mark, c.Name, inert.Line(c.Detail))
				if !c.OK && c.Remedy != "" {
					fmt.Fprintf(stdio.Out, "  %-10s → %s\n", "", c.Remedy)
				}
			})
			if failed > 0 {
				return &codeError{ExitFailed, fmt.Errorf("%d check(s) failed", failed)}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Model, "model", "", "model `NAME` or provider/model to examine")
	return cmd
}
