package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// keeper is a shell that outlives this process if it is killed: it waits for the end of the pipe that only this process
// holds open, and then kills all processes of the sandbox, which it knows by their marks.
type keeper struct {
	cmd        *exec.Cmd
	pipe, held *os.File // what commands look at, and what ends with this process
}

// keeperName is the keeper's $0, by which another process finds it.
const keeperName = "pudu-keeper"

// keeperScript gets the first and the last mark. It uses nothing but the shell itself, and starts no other process, for
// which there may be no room. It stops processes before it kills them, as killMarked does, and ends when it finds none,
// or after three seconds of trying. A process without its first thread looks like a zombie, but has other threads
// (field 17); its name may contain anything.
const keeperScript = `
read -r _ <&3
SECONDS=0
pids=1
while [ "${#pids[@]}" -gt 0 ] && [ $SECONDS -lt 3 ]; do
	pids=()
	for dir in /proc/[0-9]*; do
		mapfile -t lines 2>/dev/null <"$dir/limits" || continue
		[[ "${lines[*]}" =~ Max\ file\ locks\ +([0-9]+)\  ]] || continue
		mark=${BASH_REMATCH[1]}
		[ "$mark" -ge "$1" ] && [ "$mark" -le "$2" ] || continue
		stat=
		read -rd '' stat 2>/dev/null <"$dir/stat"
		fields=(${stat##*)})
		[[ -n "$stat" && ("${fields[0]}" != [ZX] || "${fields[17]}" -gt 1) ]] || continue
		pids+=("${dir#/proc/}")
		kill -STOP "${dir#/proc/}"
	done
	[ "${#pids[@]}" -eq 0 ] || kill -KILL "${pids[@]}"
done 2>/dev/null
`

// startKeeper starts the keeper of the marks from first to last.
func startKeeper(first, last uint64) (*keeper, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	//nolint:noctx // it lives as long as the sandbox
	c := exec.Command("bash", "--norc", "--noprofile", "-c", keeperScript, keeperName,
		strconv.FormatUint(first, 10), strconv.FormatUint(last, 10), strconv.Itoa(os.Getpid()))
	c.Env, c.Dir, c.ExtraFiles = []string{}, "/", []*os.File{r}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a signal to this process's group must not hit it
	if err := c.Start(); err != nil {
		r.Close()
		w.Close()
		return nil, err
	}
	return &keeper{c, r, w}, nil
}

// admission is what begins every script: it marks the shell with a limit on file locks, which the kernel does not
// enforce, and which children keep whatever session or environment they give themselves. So they can all be found. A
// shell that was started just when its owner was killed ends before it does anything: the keeper may have looked before
// it had its mark.
func (k *keeper) admission(mark uint64) string {
	return fmt.Sprintf("ulimit -x %d; read -t 0 -u 3 && exit 137; exec 3<&-; ", mark)
}

// give hands the pipe to a command, as descriptor 3.
func (k *keeper) give(c *exec.Cmd) { c.ExtraFiles = []*os.File{k.pipe} }

// close ends the keeper when the processes that it guards are gone.
func (k *keeper) close() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait() // how it ends says nothing
	k.held.Close()
	k.pipe.Close()
}

// Reap returns when no process is left of sandboxes on this machine whose server was killed, but for shells that end
// before they do anything (see admission). The error is ctx's.
func (p *Provider) Reap(ctx context.Context) error {
	for ctx.Err() == nil {
		left := orphanedKeepers()
		if len(left) == 0 {
			return nil
		}
		for _, k := range left {
			killMarked(k.first, k.last, 0)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
		}
	}
	return fmt.Errorf("wait for the end of a killed server's processes: %w", ctx.Err())
}

type orphanedKeeper struct{ first, last uint64 }

// orphanedKeepers finds the keepers of this user whose server is gone.
func orphanedKeepers() (out []orphanedKeeper) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if k, ok := orphaned(dir); ok {
			out = append(out, k)
		}
	}
	return out
}

// orphaned reads the command line of the process with this folder.
func orphaned(dir string) (k orphanedKeeper, ok bool) {
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return k, false
	}
	_, rest, ok := strings.Cut(string(line), "\x00"+keeperName+"\x00")
	args := strings.Split(rest, "\x00")
	if !ok || len(args) < 3 || !ours(dir) {
		return k, false
	}
	k.first, _ = strconv.ParseUint(args[0], 10, 64)
	k.last, _ = strconv.ParseUint(args[1], 10, 64)
	return k, k.first > 0 && (parent(dir) != args[2] || ending(filepath.Join("/proc", args[2])))
}

func ours(dir string) bool {
	var st syscall.Stat_t
	return syscall.Stat(dir, &st) == nil && int(st.Uid) == os.Geteuid()
}

func parent(dir string) string {
	if f := statFields(dir); len(f) > 1 {
		return string(f[1])
	}
	return ""
}

// ending reports whether a process has ended or is about to. By the time when its locks on files are free it is.
func ending(dir string) bool {
	f := statFields(dir)
	if len(f) < 7 {
		return true
	}
	const exiting = 0x4 // PF_EXITING
	flags, _ := strconv.ParseUint(string(f[6]), 10, 64)
	return f[0][0] == 'Z' || f[0][0] == 'X' || flags&exiting != 0
}

// statFields are those of /proc/pid/stat after the name, which may contain anything.
func statFields(dir string) [][]byte {
	data, _ := os.ReadFile(filepath.Join(dir, "stat"))
	return bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
}
