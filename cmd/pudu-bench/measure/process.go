package measure

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNoProcess says that there is no such process, or no /proc to look at it.
var ErrNoProcess = errors.New("the process cannot be looked at: is this Linux?")

// ticksPerSecond is what Linux counts processor time in, whatever the kernel's own clock.
const ticksPerSecond = 100

// ProcessorTime is the user and system time that a process has used, its ended children left out. It counts in steps of
// 10 ms.
func ProcessorTime(pid int) (time.Duration, error) {
	stat, err := readProc(pid, "stat")
	if err != nil {
		return 0, err
	}
	return parseStat(stat)
}

// parseStat reads /proc/PID/stat. The name of the program, in brackets, may hold anything.
func parseStat(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("read processor time: %.100q has too few fields", stat)
	}
	user, errU := strconv.ParseUint(fields[11], 10, 40)
	system, errS := strconv.ParseUint(fields[12], 10, 40)
	return time.Duration(user+system) * (time.Second / ticksPerSecond), errors.Join(errU, errS)
}

// Memory is the resident memory of a process, VmRSS, in bytes.
func Memory(pid int) (float64, error) { return status(pid, "VmRSS") }

// OwnMemory is what of it is no file's, RssAnon, in bytes: pages of a program come and go with what it does.
func OwnMemory(pid int) (float64, error) { return status(pid, "RssAnon") }

// status is a size of /proc/PID/status, in bytes (proc_pid_status(5)).
func status(pid int, name string) (float64, error) {
	lines, err := readProc(pid, "status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(lines, []byte("\n"+name+":"))
	value, _, _ := bytes.Cut(rest, []byte("kB"))
	kb, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 40)
	if err != nil {
		return 0, fmt.Errorf("read %s of process %d: %w", name, pid, err)
	}
	return float64(kb) * 1024, nil
}

func readProc(pid int, file string) ([]byte, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w (process %d)", ErrNoProcess, pid)
	}
	return b, err
}

// Quantile sorts the values; 0.5 is their median. Of none it is the zero value.
func Quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(int(q*float64(len(values))), len(values)-1)]
}
