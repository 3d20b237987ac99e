package app

import (
	"context"
	"fmt"
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
	return cli.Main(context.Background(), a, version, stdio(signals), os.Args[1:])
}

func stdio(signals <-chan os.Signal) cli.IO {
	tty := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	std := cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Signals: signals, Program: os.Args[0],
		InTTY: tty(os.Stdin), OutTTY: tty(os.Stdout), ErrTTY: tty(os.Stderr),
		Still:  os.Getenv("TERM") == "dumb",
		Secret: func() (string, error) { return readSecret(signals) },
	}
	std.Plain = std.Still || os.Getenv("NO_COLOR") != ""
	if w, h, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
		std.Width, std.Height = w, h
	}
	return std
}

// readSecret reads a line without showing it. An interrupt ends the program, and leaves the terminal as it was.
func readSecret(signals <-chan os.Signal) (string, error) {
	in := int(os.Stdin.Fd())
	before, err := term.GetState(in)
	if err != nil {
		return "", err
	}
	read := make(chan struct{})
	defer close(read)
	go func() {
		select {
		case <-signals:
			_ = term.Restore(in, before)
			fmt.Fprintln(os.Stderr)
			os.Exit(cli.ExitCancelled)
		case <-read:
		}
	}()
	secret, err := term.ReadPassword(in)
	fmt.Fprintln(os.Stderr)
	return string(secret), err
}
