package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// errNoProcess says that memory and processor time are not known: the server runs elsewhere, or this system has no /proc.
var errNoProcess = errors.New("the server's process is not known here: give its --pid, on Linux")

// ticksPerSecond is what Linux counts processor time in, whatever the kernel's own clock.
const ticksPerSecond = 100

// cpuTime is the user and system time that a process has used, its ended children left out. It counts in steps of 10 ms.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := readProc(pid, "stat")
	if err != nil {
		return 0, err
	}
	return parseCPU(stat)
}

// parseCPU reads /proc/PID/stat. The name of the program, in brackets, may hold anything.
func parseCPU(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("read processor time: %.100q has too few fields", stat)
	}
	user, errU := strconv.ParseUint(fields[11], 10, 40)
	system, errS := strconv.ParseUint(fields[12], 10, 40)
	if err := errors.Join(errU, errS); err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	return time.Duration(user+system) * (time.Second / ticksPerSecond), nil
}

// residentMemory is VmRSS of a process, in bytes.
func residentMemory(pid int) (float64, error) {
	status, err := readProc(pid, "status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	value, _, _ := bytes.Cut(rest, []byte("kB"))
	kb, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 40)
	if err != nil {
		return 0, fmt.Errorf("read VmRSS of process %d: %w", pid, err)
	}
	return float64(kb) * 1024, nil
}

func readProc(pid int, file string) ([]byte, error) {
	if pid == 0 {
		return nil, errNoProcess
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w (process %d)", errNoProcess, pid)
	}
	return b, err
}

// watchMemory looks at a process's memory ten times a second until the returned function is called, which returns the
// most it saw; 0 if it could not look.
func watchMemory(ctx context.Context, pid int) (stop func() float64) {
	ctx, cancel := context.WithCancel(ctx)
	peak := make(chan float64)
	go func() {
		var most float64
		for {
			if rss, err := residentMemory(pid); err == nil {
				most = max(most, rss)
			}
			if ctx.Err() != nil {
				break
			}
			sleep(ctx, 100*time.Millisecond)
		}
		peak <- most
	}()
	return func() float64 {
		cancel()
		return <-peak
	}
}
