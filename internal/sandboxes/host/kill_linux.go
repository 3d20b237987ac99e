package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killMarked kills all processes with marks from first to last until none is left, and the process group of leader (0
// for none). They are stopped first, lest they multiply faster than they are found.
func killMarked(first, last uint64, leader int) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if leader > 0 {
			syscall.Kill(-leader, syscall.SIGKILL)
		}
		pids := marked(first, last)
		if len(pids) == 0 {
			return
		}
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, pid := range pids {
				syscall.Kill(pid, sig)
			}
		}
	}
}

func countMarked(mark uint64) int { return len(marked(mark, mark)) }

func marked(first, last uint64) []int {
	var out []int
	files, _ := filepath.Glob("/proc/[0-9]*/limits")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if mark := parseMark(data); mark < first || mark > last || mark == 0 {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(file, "/")[2])
		if err == nil && !isZombie(pid) {
			out = append(out, pid)
		}
	}
	return out
}

func parseMark(data []byte) uint64 {
	_, rest, _ := bytes.Cut(data, []byte("\nMax file locks "))
	if f := bytes.Fields(rest); len(f) > 0 {
		mark, _ := strconv.ParseUint(string(f[0]), 10, 64)
		return mark
	}
	return 0
}

// isZombie reports whether a process has ended. One that goes on without its first thread looks like it, but has more.
func isZombie(pid int) bool {
	f := statFields(filepath.Join("/proc", strconv.Itoa(pid)))
	return len(f) < 18 || (f[0][0] == 'Z' || f[0][0] == 'X') && string(f[17]) == "1"
}
