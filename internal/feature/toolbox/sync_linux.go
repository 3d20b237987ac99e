package toolbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncAll makes all that was written to the disk of a folder durable.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
