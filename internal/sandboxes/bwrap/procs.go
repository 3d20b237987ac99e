//go:build linux

package bwrap

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// view is the sandbox's own /proc, opened through the root folder of its first process: it shows the processes of the
// sandbox and no others, whatever they call themselves and whoever their parent is.
type view struct {
	dir  *os.File
	root int // the root folder itself
}

// firstFreePid is the first that can be a command's: 1 is bwrap, 2 is our bash.
const firstFreePid = 3

// process is one look at a process.
type process struct {
	pid, parent int
	threads     int
	thread      string // the folder in /proc/pid of a thread that runs; empty for the first
	zombie      bool   // ended, but its parent has not looked; it still takes a place
	ending      bool   // about to be one; it may not be looked into any more
	stopped     bool   // by a signal
	memory      int64  // bytes that are its own
	mark        uint64 // the command that it belongs to, see [mark]
}

// openView opens the /proc that the process pid of the host sees.
func openView(pid int) (*view, error) {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	dir, err := unix.Openat(root, "proc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(root)
		return nil, err
	}
	return &view{dir: os.NewFile(uintptr(dir), "proc"), root: root}, nil
}

func (v *view) close() {
	v.dir.Close()
	unix.Close(v.root)
}

// inMemory is what a file system of the sandbox that lives in memory takes.
func (v *view) inMemory(folder string) int64 {
	fd, err := unix.Openat(v.root, folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return 0
	}
	return int64(st.Blocks-st.Bfree) * st.Frsize
}

// processes lists all processes but bwrap and the init. A sandbox that is gone has none.
func (v *view) processes() []process {
	fd, err := v.open(".")
	if err != nil {
		return nil
	}
	defer fd.Close()
	names, _ := fd.Readdirnames(-1)
	var out []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid < firstFreePid {
			continue
		}
		if p, ok := v.look(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

func (v *view) look(pid int) (process, bool) {
	dir, err := v.open(strconv.Itoa(pid))
	if err != nil {
		return process{}, false
	}
	defer dir.Close()
	p := process{pid: pid}
	return p, p.readStat(dir) && p.readMark(dir)
}

// signal sends sig to the process if it still carries the mark. The open folder of the process stands for it, so that
// the number cannot come to mean another one in between.
func (v *view) signal(p process, sig unix.Signal) {
	dir, err := v.open(strconv.Itoa(p.pid))
	if err != nil {
		return
	}
	defer dir.Close()
	now := process{pid: p.pid}
	if now.readMark(dir) && now.mark == p.mark {
		unix.PidfdSendSignal(int(dir.Fd()), sig, nil, 0)
	}
}

func (v *view) open(name string) (*os.File, error) {
	fd, err := unix.Openat(int(v.dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// readStat reads what is needed from the process's stat and statm; false means that it is gone. A process may go on
// without its first thread, which then looks like a zombie without memory: the others tell more.
func (p *process) readStat(dir *os.File) bool {
	fd := int(dir.Fd())
	if !p.parseStat(readAt(fd, "stat")) {
		return false
	}
	if p.zombie && p.threads > 1 {
		tasks, _ := list(dir, "task")
		for _, task := range tasks {
			var other process
			if folder := "task/" + task + "/"; other.parseStat(readAt(fd, folder+"stat")) && !other.zombie {
				p.thread, p.zombie, p.ending, p.stopped = folder, false, other.ending, other.stopped
				break
			}
		}
	}
	return p.parseStatm(readAt(fd, p.thread+"statm"))
}

// exiting is the flag PF_EXITING of the kernel.
const exiting = 0x4

func (p *process) parseStat(data []byte) bool {
	// The name, in parentheses, may contain anything.
	i := bytes.LastIndexByte(data, ')')
	if i < 0 {
		return false
	}
	f := bytes.Fields(data[i+1:])
	if len(f) < 18 {
		return false
	}
	p.zombie = f[0][0] == 'Z' || f[0][0] == 'X'
	p.stopped = f[0][0] == 'T'
	flags, _ := strconv.ParseUint(string(f[6]), 10, 32)
	p.ending = flags&exiting != 0
	p.parent, _ = strconv.Atoi(string(f[1]))
	p.threads, _ = strconv.Atoi(string(f[17]))
	return true
}

func (p *process) parseStatm(data []byte) bool {
	f := bytes.Fields(data)
	if len(f) < 3 {
		return false
	}
	resident, _ := strconv.ParseInt(string(f[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(f[2]), 10, 64)
	p.memory = max(resident-shared, 0) * int64(os.Getpagesize())
	return true
}

// readMark reads the limit by which commands are told apart.
func (p *process) readMark(dir *os.File) bool {
	mark, ok := parseMark(readAt(int(dir.Fd()), "limits"))
	p.mark = mark
	return ok
}

var markLine = []byte("\nMax file locks ")

// parseMark reads the soft limit of file locks out of /proc/pid/limits; "unlimited" is 0.
func parseMark(data []byte) (uint64, bool) {
	_, rest, _ := bytes.Cut(data, markLine)
	f := bytes.Fields(rest)
	if len(f) == 0 {
		return 0, false
	}
	if string(f[0]) == "unlimited" {
		return 0, true
	}
	mark, err := strconv.ParseUint(string(f[0]), 10, 64)
	return mark, err == nil
}
