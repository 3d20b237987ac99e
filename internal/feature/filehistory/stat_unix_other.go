//go:build unix && !linux

package filehistory

import "syscall"

func changedAt(*syscall.Stat_t) int64 { return 0 }
