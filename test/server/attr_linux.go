package server

import "syscall"

// endsWithTheTests lets the kernel kill a server whose tests are gone.
func endsWithTheTests() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
