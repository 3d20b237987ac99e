package filehistory

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFiles has the disk hold all that was written: one wait, however many files there are.
func syncFiles(root *os.Root) error {
	h, err := root.Open(".")
	if err != nil {
		return err
	}
	defer h.Close()
	return unix.Syncfs(int(h.Fd()))
}
