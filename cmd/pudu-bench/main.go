// Command pudu-bench measures Pudu: `make bench`. Each of its commands prints figures beside their goals; the exit code
// is 1 if a goal is missed that holds on every machine, 2 for a command line that is wrong.
//
//	goals   the parts of the program, in this process: package goals
//	serve   a server under load, beside direct calls of the model: package load
//	model   the model that such a server is to use: package load
//	prompt  what the agent's prompts cost: package prompts
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/lib/inert"
)

// Exit codes.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130
)

// failure is an error of a measurement. Every other error is one of the command line.
type failure struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	os.Exit(code)
}

// run does what the command line asks for and returns the exit code.
func run(ctx context.Context, out, errs io.Writer, args []string) int {
	root := &cobra.Command{Use: "pudu-bench", Short: "Measure Pudu", SilenceErrors: true, SilenceUsage: true}
	root.SetOut(out)
	root.SetErr(errs)
	root.SetArgs(args)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(goalsCommand(), serveCommand(), modelCommand(), promptCommand()) //nolint:contextcheck // cobra hands it on
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(errs, "pudu-bench: "+inert.Text(err.Error()))
	switch {
	case !errors.As(err, &failure{}):
		return exitUsage
	case ctx.Err() != nil:
		return exitCancelled
	}
	return exitFailed
}

// missed is the error of a measurement that missed n goals; nil if n is 0.
func missed(n int) error {
	if n == 0 {
		return nil
	}
	return failure{fmt.Errorf("goals missed: %d", n)}
}
