package cli

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// openTime bounds how long the program that opens a browser may take: some stay until the browser ends.
const openTime = 10 * time.Second

// openPages shows an address in a browser, where somebody sits at this machine who has one; elsewhere it does nothing.
// It does not wait.
func openPages(ctx context.Context, address string) {
	program := opener(runtime.GOOS, os.Getenv)
	path, err := exec.LookPath(program)
	if program == "" || err != nil {
		return
	}
	go func() {
		ctx, stop := context.WithTimeout(ctx, openTime)
		defer stop()
		_ = exec.CommandContext(ctx, path, address).Run() // the address stands on the terminal too
	}()
}

// opener is the program of a system that opens addresses; empty if nobody would see the browser.
func opener(system string, env func(string) string) string {
	switch {
	case env("SSH_CONNECTION") != "" || env("CI") != "":
		return ""
	case system == "darwin":
		return "open"
	case env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != "":
		return "xdg-open"
	}
	return ""
}
