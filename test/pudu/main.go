// Command pudu is the server as the tests of the whole start it: the ordinary program, with a tool beside that asks a human.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/cli"
)

// asking is the application with the tool in the server's agents.
type asking struct{ app.App }

var _ cli.App = asking{}

// Serve implements cli.App.
func (a asking) Serve(ctx context.Context, o cli.Options, ready func(*cli.Session)) error {
	ask, err := askHuman()
	if err != nil {
		return err
	}
	o.Tools = append(o.Tools, ask)
	return a.App.Serve(ctx, o, ready)
}

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stdio := cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Signals: signals, Plain: true}
	os.Exit(cli.Main(context.Background(), asking{}, "test", stdio, os.Args[1:]))
}
