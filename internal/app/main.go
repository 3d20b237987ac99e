package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/pudu-ai/pudu/internal/cli"
)

// Main runs the program as it is.
func Main(version string) int { return App{}.Main(version) }

// Main runs the program on the process's own input, output and arguments and returns the exit code.
func (a App) Main(version string) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	slog.SetLogLoggerLevel(slog.LevelWarn) // people read what commands print; a server has a log of its own
	return cli.Main(context.Background(), a, version, stdio(signals), os.Args[1:])
}

func stdio(signals <-chan os.Signal) cli.IO {
	tty := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	std := cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Signals: signals, Program: os.Args[0],
		InTTY: tty(os.Stdin), OutTTY: tty(os.Stdout), ErrTTY: tty(os.Stderr),
		Plain: os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		Secret: func() (string, error) {
			secret, err := term.ReadPassword(int(os.Stdin.Fd()))
			fmt.Fprintln(os.Stderr)
			return string(secret), err
		},
	}
	if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
		std.Width = w
	}
	return std
}
