//go:build linux

package bwrap

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/sandbox"
)

// controller is the init of a sandbox: a bash that reads the number of a command per line, and sources the file of that
// name in a subshell. It ends, and everything with it, when the server's end of the pipe closes.
//
// The limits: no core dumps; where no cgroup bounds the memory, what one process may reserve, generously, as the stacks
// of threads count in full and what is really used is the watchdog's business; processes a bit above that of
// commands, so that the init can always start the next one.
func controller(l sandbox.Limits, memoryToo bool) string {
	limits := fmt.Sprintf("ulimit -c 0 -u %d", l.Processes+spareProcesses/2)
	if memoryToo {
		limits += fmt.Sprintf(" -d %d", 4*l.Memory/1024)
	}
	return strings.Join([]string{
		`exec 3<&0 4>&1 </dev/null >/dev/null 2>&1`,
		`umask 022`,
		limits,
		`printf 'ready\n' >&4`,
		`while IFS= read -r -u 3 id; do ( . "` + insideRun + `/$id" ) & done`,
		`kill -KILL -1`, // bwrap as first process would wait for all that still runs
	}, "\n")
}

// mark is how the processes of a command are recognised: a limit on file locks, which no kernel enforces any more,
// which every child inherits over fork, exec, setsid and a cleared environment, and which nobody can raise. A process
// may lower it and so hide from the end of its own command, but not from that of the sandbox.
func mark(id uint64) uint64 { return 1<<40 + id }

// argMax is the longest script that is passed as an argument; the kernel's bound is 128 KiB.
const argMax = 100 << 10

// request is the file that starts a command. The subshell that sources it waits for the command's own shell and reports
// "<id> <exit code> <its pid>". Job control gives that shell a process group of its own, so that "kill 0" hits nobody
// else, and leaves it the usual signals; the setsid program would cost another exec.
type request struct {
	id       uint64
	cmd      sandbox.Command
	out, err string // paths inside
	limits   sandbox.Limits
	room     int64 // bytes that a file may have
}

func (r request) text() string {
	// The shell's own words about a failed cd would name this file.
	dir := r.cmd.Dir
	if dir == "" {
		dir = sandbox.Workspace
	}
	lines := []string{
		fmt.Sprintf("ulimit -x %d; set -m", mark(r.id)),
		"(",
		"echo 800 >/proc/self/oom_score_adj", // the OOM killer shall not choose the init
		fmt.Sprintf("ulimit -u %d -f %d", r.limits.Processes, r.room/1024),
		fmt.Sprintf("cd -- %s 2>/dev/null || { echo %s >&2; exit 1; }", quote(dir),
			quote("bash: cannot change to the folder "+dir)),
		"unset OLDPWD",
	}
	for _, secret := range r.cmd.Secrets { // by the shell itself, as the host sees the arguments of programs
		name, value, _ := strings.Cut(secret, "=")
		lines = append(lines, "export "+name+"="+quote(value))
	}
	lines = append(lines,
		"exec "+r.argv(),
		fmt.Sprintf(") 3<&- 4>&- >%s 2>%s", r.out, r.err),
		fmt.Sprintf(`printf '%d %%s %%s\n' $? $BASHPID >&4`, r.id),
	)
	return strings.Join(lines, "\n") + "\n"
}

func (r request) argv() string {
	var args []string
	if len(r.cmd.Env) > 0 {
		args = append(args, "/usr/bin/env")
		args = append(args, r.cmd.Env...)
	}
	args = append(args, "/bin/bash", "--norc", "--noprofile")
	if r.long() {
		args = append(args, path.Join(insideRun, r.scriptFile()))
	} else {
		args = append(args, "-c", r.cmd.Script, "bash")
	}
	for i, a := range args {
		args[i] = quote(a)
	}
	return strings.Join(args, " ")
}

func (r request) long() bool         { return len(r.cmd.Script) > argMax }
func (r request) file() string       { return strconv.FormatUint(r.id, 10) }
func (r request) scriptFile() string { return r.file() + ".sh" }

// quote makes one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
