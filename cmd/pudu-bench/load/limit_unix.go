//go:build unix

package load

import "syscall"

// raiseFileLimit lets this process and the servers that it starts open as many files as the system allows, and returns
// how many that are; 0 if it is not known.
func raiseFileLimit() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	if l.Cur < l.Max {
		raised := l
		raised.Cur = l.Max
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) == nil {
			l = raised
		}
	}
	return int(min(uint64(l.Cur), 1<<30)) //nolint:unconvert // signed on some systems
}
