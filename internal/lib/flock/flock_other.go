//go:build !unix

package flock

import "os"

// Try locks nothing: there is no sandbox on such a system, and one process has its data folder.
func Try(*os.File, bool) error { return nil }

// Busy says whether an error of Try is that somebody else has the lock.
func Busy(error) bool { return false }

func again(error) bool { return false }
