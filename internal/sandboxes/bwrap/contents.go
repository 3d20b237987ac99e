//go:build linux

package bwrap

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// inodeCost is what a file counts at least, so that a million empty ones are no free ride.
const inodeCost = 4096

// contents adds up what files occupy.
type contents struct {
	bytes   int64
	partial bool           // something was left out
	linked  map[inode]bool // files with several names, which count once
}

func (t *contents) add(st *unix.Stat_t) {
	if st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		id := inode{st.Dev, st.Ino}
		if t.linked[id] {
			return
		}
		if t.linked == nil {
			t.linked = map[inode]bool{}
		}
		t.linked[id] = true
	}
	t.bytes += max(st.Blocks*512, inodeCost)
}

var errEnough = errors.New("enough")

// askEvery is after how many files a count asks whether to go on.
const askEvery = 256

// occupied counts what the writable mounts occupy for as long as more says so.
func occupied(mounts []sandbox.Mount, more func(*contents) bool) *contents {
	t := &contents{}
	seen := 0
	for _, m := range mounts {
		if m.ReadOnly || t.partial {
			continue
		}
		fd, err := unix.Open(m.Host, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		err = walk(fd, func(_ int, _ string, st *unix.Stat_t) error {
			t.add(st)
			if seen++; seen%askEvery == 0 && !more(t) {
				return errEnough
			}
			return nil
		})
		unix.Close(fd)
		t.partial = err != nil
	}
	return t
}
