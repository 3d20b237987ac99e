//go:build linux

package bwrap

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// disk measures the writable mounts, seldom enough to take at most a twentieth of one processor.
type disk struct {
	used  int64
	known bool
	next  time.Time
}

// inodeCost is what a file counts at least, so that a million empty ones are no free ride.
const inodeCost = 4096

func (d *disk) due(now time.Time) bool { return !now.Before(d.next) }

// measure adds up what the writable mounts occupy, and stops counting at enough.
func (d *disk) measure(mounts []sandbox.Mount, enough int64) int64 {
	began := time.Now()
	d.used, d.known = occupied(mounts, enough), true
	now := time.Now()
	d.next = now.Add(20 * now.Sub(began))
	return d.used
}

var errEnough = errors.New("enough")

func occupied(mounts []sandbox.Mount, enough int64) int64 {
	type inode struct{ dev, ino uint64 }
	linked := map[inode]bool{} // files with several names count once
	var sum int64
	for _, m := range mounts {
		if m.ReadOnly {
			continue
		}
		fd, err := unix.Open(m.Host, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		err = walk(fd, func(_ int, _ string, st *unix.Stat_t) error {
			if st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
				id := inode{st.Dev, st.Ino}
				if linked[id] {
					return nil
				}
				linked[id] = true
			}
			if sum += max(st.Blocks*512, inodeCost); sum > enough {
				return errEnough
			}
			return nil
		})
		unix.Close(fd)
		if err != nil {
			break
		}
	}
	return sum
}
