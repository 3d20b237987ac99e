package bwrap

import "golang.org/x/sys/unix"

const (
	auditArch uint32 = unix.AUDIT_ARCH_X86_64
	// x32Bit marks the system calls of the x32 mode, which would pass by all comparisons.
	x32Bit uint32 = 0x40000000
)

// deniedHere are denied calls that only this processor has.
var deniedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT,
	unix.SYS_USELIB, unix.SYS__SYSCTL}
