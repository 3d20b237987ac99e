//go:build unix && !linux

package host

import "syscall"

// markScript is empty: only Linux shows what could serve as a mark.
func markScript(uint64) string { return "" }

// killMarked kills the process group of leader. What moved to a session of its own survives.
func killMarked(_, _ uint64, leader int) {
	if leader > 0 {
		syscall.Kill(-leader, syscall.SIGKILL)
	}
}

func countMarked(uint64) int { return 0 }
