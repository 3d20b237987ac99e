//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callName is a system call about files; "" for all others. Reading and writing are left out: Go's scheduler writes
// too, and it must never wait for a test.
func callName(call int32) string {
	switch call {
	case unix.SYS_OPENAT, unix.SYS_OPENAT2:
		return "open"
	case unix.SYS_FSTAT, unix.SYS_NEWFSTATAT:
		return "stat"
	case unix.SYS_GETDENTS64:
		return "list"
	case unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2:
		return "chmod"
	case unix.SYS_FCHOWN, unix.SYS_FCHOWNAT:
		return "chown"
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return "sync"
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return "rename"
	case unix.SYS_LINKAT:
		return "link"
	case unix.SYS_UNLINKAT:
		return "remove"
	case unix.SYS_MKDIRAT:
		return "mkdir"
	case unix.SYS_FLOCK:
		return "lock"
	case unix.SYS_FTRUNCATE:
		return "truncate"
	}
	return ""
}

// highestCall bounds the numbers in callName.
const highestCall = unix.SYS_FCHMODAT2

// failNth lets the call of number n fail, counted from 1, and notes its name.
func failNth(n int, failed *string) func(call string) unix.Errno {
	return func(call string) unix.Errno {
		if n--; n != 0 {
			return 0
		}
		*failed = call
		return unix.EIO
	}
}

// runFailing runs do while fail decides what becomes of its operations on files in the folder dir and below, as long as
// they name them by an open file or folder: 0 lets them happen. Only what do does itself is asked about, not what it
// starts.
func runFailing(t testing.TB, dir string, fail func(call string) unix.Errno, do func()) {
	t.Helper()
	listener, done := make(chan int), make(chan struct{})
	var err error
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends together with what was installed on it
		var fd int
		fd, err = askKernel()
		listener <- fd
		if err == nil {
			do()
		}
	}()
	fd := <-listener
	if err != nil {
		t.Fatalf("listen to system calls: %v", err)
	}
	defer unix.Close(fd)
	if err := answerCalls(fd, dir, fail, done); err != nil {
		t.Fatalf("answer system calls: %v", err)
	}
}

// askKernel makes the kernel ask about each file operation of the calling thread, and returns where it asks.
func askKernel() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	const number = 0 // where the call's number is in what a filter sees
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number}}
	for call := range int32(highestCall + 1) {
		if callName(call) != "" {
			program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1,
				K: uint32(call)},
				unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
		}
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
		uintptr(unsafe.Pointer(&filter)))
	if e != 0 {
		return 0, e
	}
	return int(fd), nil
}

// callQuestion is the kernel's struct seccomp_notif, callReply its struct seccomp_notif_resp.
type callQuestion struct {
	id         uint64
	pid, flags uint32
	call       int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

type callReply struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// answerCalls answers until done. A call is asked about again when a signal has come in between: it gets the same
// answer.
func answerCalls(fd int, dir string, fail func(call string) unix.Errno, done <-chan struct{}) error {
	again, e := false, unix.Errno(0)
	for {
		wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		const most = 10 // milliseconds until it looks whether all is done
		if _, err := unix.Poll(wait, most); err != nil && err != unix.EINTR {
			return err
		}
		if wait[0].Revents&unix.POLLIN == 0 {
			select {
			case <-done:
				return nil
			default:
				continue
			}
		}
		var q callQuestion
		if err := ioctlCall(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)); err != nil {
			if err == unix.ENOENT || err == unix.EINTR {
				continue
			}
			return err
		}
		if !again {
			if e = 0; isBelow(dir, q.args[0]) {
				e = fail(callName(q.call))
			}
		}
		r := callReply{id: q.id, err: -int32(e)}
		if e == 0 {
			r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		err := ioctlCall(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
		if again = err == unix.ENOENT; err != nil && !again {
			return err
		}
	}
}

func ioctlCall(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); e != 0 {
		return e
	}
	return nil
}

// isBelow reports whether a descriptor of this process is open for something in the folder or below.
func isBelow(dir string, descriptor uint64) bool {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", int32(descriptor)))
	return err == nil && (path == dir || strings.HasPrefix(path, dir+"/"))
}

// openBelow returns what this process has open in the folder and below.
func openBelow(t testing.TB, dir string) (paths []string) {
	t.Helper()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		if path, err := os.Readlink("/proc/self/fd/" + d.Name()); err == nil &&
			(path == dir || strings.HasPrefix(path, dir+"/")) {
			paths = append(paths, path)
		}
	}
	return paths
}
