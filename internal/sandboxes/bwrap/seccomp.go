//go:build linux

package bwrap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What a filter may answer.
const (
	allow  = unix.SECCOMP_RET_ALLOW
	kill   = unix.SECCOMP_RET_KILL_PROCESS
	eperm  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	enoss  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	einval = unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)
	enots  = unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)
)

// Where the kernel's struct seccomp_data has its fields; arguments are 64 bits wide, little endian.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
	offArg1   = 24
)

// newNamespaces are all CLONE_NEW* flags of clone.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// families are the kinds of sockets that code may make. There is no network to reach with them, but programs use
// loopback, and netlink to look at it.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// seccompProgram is the filter as bwrap reads it from a file descriptor. It is a second wall: what it denies would
// mostly fail without capabilities too, but much of it (io_uring, keyctl, vsock ...) has had holes or is no namespace's
// business.
func seccompProgram() ([]byte, error) {
	if auditArch == 0 {
		return nil, errors.New("no seccomp filter is known for this processor: use a machine with amd64 or arm64")
	}
	raw, err := bpf.Assemble(filter())
	if err != nil {
		return nil, fmt.Errorf("assemble seccomp filter: %w", err)
	}
	var out []byte
	for _, in := range raw {
		out = binary.NativeEndian.AppendUint16(out, in.Op)
		out = append(out, in.Jt, in.Jf)
		out = binary.NativeEndian.AppendUint32(out, in.K)
	}
	return out, nil
}

func filter() []bpf.Instruction {
	prog := []bpf.Instruction{
		load(offArch),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: kill},
		load(offNumber),
	}
	if x32Bit != 0 {
		prog = append(prog, bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32Bit, SkipFalse: 1},
			bpf.RetConstant{Val: eperm})
	}
	for _, nr := range slices.Concat(denied, deniedHere) {
		prog = append(prog, onCall(nr, bpf.RetConstant{Val: eperm})...)
	}
	// libc falls back from clone3, whose flags a filter cannot see, to clone.
	prog = append(prog, onCall(unix.SYS_CLONE3, bpf.RetConstant{Val: enoss})...)
	prog = append(prog, onCall(unix.SYS_CLONE, load(offArg0),
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: newNamespaces, SkipFalse: 1},
		bpf.RetConstant{Val: eperm}, bpf.RetConstant{Val: allow})...)
	prog = append(prog, onCall(unix.SYS_SOCKET, oneOf(offArg0, families, allow, eperm)...)...)
	prog = append(prog, onCall(unix.SYS_IOCTL, slices.Concat(
		when(offArg1, reservations, enots), when(offArg1, []uint32{unix.TIOCSTI, tioclinux}, eperm),
		[]bpf.Instruction{bpf.RetConstant{Val: allow}})...)...)
	// A shared segment that nobody has attached can be found by no process but those in its namespace.
	prog = append(prog, onCall(unix.SYS_SHMGET, above(offArg1, maxSegment, einval)...)...)
	// Space that is reserved is taken in microseconds, which nobody can watch. Programs write zeros instead.
	prog = append(prog, onCall(unix.SYS_FALLOCATE, bpf.RetConstant{Val: enots})...)
	return append(prog, bpf.RetConstant{Val: allow})
}

// reservations are ioctls that do what fallocate does: FS_IOC_RESVSP, FS_IOC_RESVSP64 and FS_IOC_ZERO_RANGE.
var reservations = []uint32{0x40305828, 0x4030582a, 0x40305839}

// maxSegment is how large a segment of System V shared memory may be; programs have at most 4096 of them. Those that
// use it at all need a few bytes.
const maxSegment = 64 << 10

// above gives the answer when the argument is larger than most; a higher word than 32 bits have is.
func above(off uint32, most, answer uint32) []bpf.Instruction {
	return []bpf.Instruction{
		load(off + 4),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 2},
		load(off),
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: most, SkipFalse: 1},
		bpf.RetConstant{Val: answer},
		bpf.RetConstant{Val: allow},
	}
}

// tioclinux is an ioctl of the console that can type on it.
const tioclinux = 0x541c

func load(off uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: off, Size: 4} }

// onCall runs body, which must return, when the system call is nr.
func onCall(nr uint32, body ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: uint8(len(body))}}, body...)
}

// oneOf answers yes when the argument is one of vals, else no.
func oneOf(off uint32, vals []uint32, yes, no uint32) []bpf.Instruction {
	return append(when(off, vals, yes), bpf.RetConstant{Val: no})
}

// when answers when the argument is one of vals.
func when(off uint32, vals []uint32, answer uint32) []bpf.Instruction {
	out := []bpf.Instruction{load(off)}
	for _, v := range vals {
		out = append(out, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1}, bpf.RetConstant{Val: answer})
	}
	return out
}

// denied are the system calls that no program of an agent needs.
var denied = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_MEMFD_SECRET, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
}
