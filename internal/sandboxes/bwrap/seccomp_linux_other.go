//go:build linux && !amd64 && !arm64

package bwrap

const (
	auditArch uint32 = 0
	x32Bit    uint32 = 0
)

var deniedHere []uint32
