//go:build !linux

package filehistory

import "os"

// syncFiles has the disk hold what was written, as far as one call can.
func syncFiles(root *os.Root) error { return syncDir(root) }
