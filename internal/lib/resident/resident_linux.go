package resident

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// GiveBack takes the program's file out of the process's memory.
func GiveBack() error {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("give memory back: %w", err)
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("give memory back: %w", err)
	}
	areas, err := clean(f, file)
	err = errors.Join(err, f.Close())
	for _, a := range areas {
		if _, _, e := unix.Syscall(unix.SYS_MADVISE, a.from, a.to-a.from, unix.MADV_DONTNEED); e != 0 {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("give memory back: %w", err)
	}
	return nil
}
