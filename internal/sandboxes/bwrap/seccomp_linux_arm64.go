package bwrap

import "golang.org/x/sys/unix"

const (
	auditArch uint32 = unix.AUDIT_ARCH_AARCH64
	x32Bit    uint32 = 0
)

// deniedHere are denied calls that only this processor has.
var deniedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD}
