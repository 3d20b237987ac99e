package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/model/probe"
)

func doctorModelCommand(app App, o *Options, stdio IO) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "model [NAME]",
		Short: "Find out with ten tiny tasks whether a model is good enough to be an agent",
		Long: "Have a model, by default the one that runs use, do ten tiny tasks: about 16 calls and 15,000 tokens. " +
			"Says what it can and\n" +
			"cannot do, whether that is enough for an agent, and which lines its entry of the configuration should " +
			"have. A model that is\n" +
			"too weak, or does not answer, gives exit code 1.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context(), stdio, errInterrupted)
			defer stop()
			if len(args) > 0 {
				o.Model = args[0]
			}
			look := style{on: stdio.OutTTY && !stdio.Plain}
			done := func(r probe.Result) { printResult(stdio.Out, look, r) }
			if asJSON {
				done = func(probe.Result) {}
			}
			x, err := app.ExamineModel(ctx, *o, done)
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return cutOff(ctx, ctx.Err())
			}
			if asJSON {
				err = printJSON(stdio, x)
			} else {
				printExamined(stdio.Out, look, &x)
			}
			return errors.Join(err, unfit(&x))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, when all is done")
	return cmd
}

// unfit is the error of a model that should not be an agent.
func unfit(x *probe.Examined) error {
	if x.Verdict == probe.Good || x.Verdict == probe.Works || x.Verdict == probe.Answers {
		return nil
	}
	return &codeError{ExitFailed, fmt.Errorf("model %s: %s", x.Name, x.Verdict)}
}

func printResult(w io.Writer, look style, r probe.Result) {
	mark := look.good()
	switch {
	case r.Outcome == probe.NotApplicable:
		mark = look.dim("–")
	case r.Outcome == probe.Fail && r.Minor:
		mark = look.yellow("!")
	case r.Outcome == probe.Fail:
		mark = look.bad()
	}
	fmt.Fprintf(w, "%s %-10s %s\n", mark, r.Task, inert.Line(r.Detail))
}

func printExamined(w io.Writer, look style, x *probe.Examined) {
	fmt.Fprintf(w, "\n%s\n", look.bold(excerpt.Clip(inert.Line(x.Name+": "+x.Sentence()), 400)))
	if x.Remedy != "" {
		fmt.Fprintln(w, "→ "+inert.Line(x.Remedy))
	}
	for _, a := range x.Advice {
		fmt.Fprintln(w, "→ "+inert.Line(a))
	}
	fmt.Fprintf(w, "%s, %s tokens (%s in, %s out)%s, %s\n", Count(x.Calls, "call"),
		tokens(x.Spent.Input+x.Spent.Output), tokens(x.Spent.Input), tokens(x.Spent.Output), costOf(x),
		duration(time.Duration(x.Millis)*time.Millisecond))
	if len(x.Options) == 0 {
		return
	}
	fmt.Fprintln(w, "\nIn its entry of models: in config.yaml I would set:")
	for _, o := range x.Options {
		fmt.Fprintf(w, "    %s: %s  %s\n", o.Key, inert.Line(string(o.Value)), look.dim("# "+inert.Line(o.Why)))
	}
}

func costOf(x *probe.Examined) string {
	if x.Cost == nil {
		return ""
	}
	return fmt.Sprintf(", about %.4f %s", *x.Cost, x.Currency)
}
