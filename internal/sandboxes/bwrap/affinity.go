//go:build linux

package bwrap

import (
	"math"

	"golang.org/x/sys/unix"
)

// narrow binds the calling thread, and what it starts, to as few processors as the limit asks for, rounded up. That is
// the best that can be done where no cgroup counts processor time. The returned function undoes it for the thread.
func narrow(cpus float64, offset int) (undo func() error, err error) {
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, err
	}
	want, have := int(math.Ceil(cpus)), before.Count()
	if want >= have {
		return func() error { return nil }, nil
	}
	skip := offset % have // so that not all sandboxes share the first
	for i, seen := 0, 0; after.Count() < want; i = (i + 1) % (len(before) * 64) {
		if !before.IsSet(i) {
			continue
		}
		if seen++; seen > skip {
			after.Set(i)
		}
	}
	if err := unix.SchedSetaffinity(0, &after); err != nil {
		return nil, err
	}
	return func() error { return unix.SchedSetaffinity(0, &before) }, nil
}
