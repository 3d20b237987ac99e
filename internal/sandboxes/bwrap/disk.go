//go:build linux

package bwrap

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

const (
	// diskTick is how often the file systems are asked while something runs, and diskTickLeast how often when a sandbox
	// may be near its limit.
	diskTick      = 50 * time.Millisecond
	diskTickLeast = 5 * time.Millisecond
	// diskRate is how much a sandbox is thought to write in a second at most.
	diskRate = 4 << 30
	// diskStep is how much the file systems may grow before a sandbox that is near its limit is measured: others write
	// too. A small limit has a smaller step, its sixteenth.
	diskStep = 256 << 20
	// diskStepFull is the same for a sandbox that must not grow at all.
	diskStepFull = 1 << 20
	// diskStepCount is how much they may grow at least while a sandbox is counted of which a process has not stopped
	// yet: it may be deleting a large file, which takes a moment, and it is others that write.
	diskStepCount = 128 << 20
	// leastRoom is how large a file may be as long as the limit is not passed.
	leastRoom = 1 << 20
	// diskReserve is how much of a file system sandboxes leave free. Of a small one it is a twentieth.
	diskReserve = 1 << 30
)

// disk bounds what the writable mounts hold. Counting that takes long, and it is right only while nothing changes; to
// ask the file systems how full they are takes a microsecond, but tells of all who write and delete. So what was
// counted last and what the file systems have grown by since is what a sandbox may hold at most. Where they shrank,
// others may have deleted what hides what it wrote, as much as can be written in that time. When that is too much, it
// is stopped and counted again.
type disk struct {
	mounts  []sandbox.Mount
	limit   int64
	foreign bool // some are a person's, who may have had more than the limit before

	mu     sync.Mutex
	known  bool  // it was counted
	used   int64 // counted last
	grown  int64 // of the file systems since: each gain between two looks, without the losses
	hidden int64 // what may have been written between two looks since when the file systems shrank
	filled int64 // of the file systems at the last look
	looked time.Time
	rest   time.Time // until when it is not stopped for what is hidden
	scarce bool      // less than the reserve is free
	before bool      // and it was at the last count
	idle   int64     // filled when nothing ran and the mounts were counted
}

// newDisk begins with what was counted while the sandbox was opened.
func newDisk(mounts []sandbox.Mount, limit int64, held *contents) *disk {
	d := &disk{mounts: mounts, limit: limit, foreign: held.partial, known: !held.partial, used: held.bytes}
	if !d.known {
		d.used = limit // the worst that it may be
	}
	d.look()
	d.grown, d.before = 0, d.scarce
	return d
}

// look asks the file systems how full they are.
func (d *disk) look() {
	filled, scarce := fileSystems(d.mounts)
	now := time.Now()
	if filled < d.filled {
		d.hidden += int64(min(now.Sub(d.looked), tick).Seconds() * diskRate)
	}
	d.grown += max(filled-d.filled, 0)
	d.filled, d.looked, d.scarce = filled, now, scarce
}

// due reports whether the sandbox has to be counted while it runs. For what is hidden it is stopped for a twentieth of
// the time at most.
func (d *disk) due() bool {
	return d.grown > d.allowance() || d.grown+d.hidden > d.allowance() && d.looked.After(d.rest)
}

// changed reports whether the file systems have changed since it was last called, and by how much they have grown since
// the last count.
func (d *disk) changed() (grown int64, changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	changed = d.filled != d.idle
	d.idle = d.filled
	return d.grown, changed
}

// fileSystems returns what is used of those below the writable mounts, and whether one has less than its reserve left.
// Where root has set a project quota on a folder, Linux answers for that.
func fileSystems(mounts []sandbox.Mount) (filled int64, scarce bool) {
	type id struct {
		fs     unix.Fsid
		blocks uint64
	}
	asked := map[id]bool{}
	for _, m := range mounts {
		var st unix.Statfs_t
		if m.ReadOnly || unix.Statfs(m.Host, &st) != nil || asked[id{st.Fsid, st.Blocks}] {
			continue
		}
		asked[id{st.Fsid, st.Blocks}] = true
		size := st.Frsize
		filled += int64(st.Blocks-st.Bfree)*size + int64(st.Files-st.Ffree)*inodeCost
		scarce = scarce || int64(st.Bavail)*size < min(diskReserve, int64(st.Blocks)*size/20)
	}
	return filled, scarce
}

// step is what the file systems may gain before it is worth a count, also by what others write.
func (d *disk) step() int64 { return min(diskStep, d.limit/16) }

// outgrows reports whether so much was written during a count that a process which may write must not go on until the
// count has ended.
func (d *disk) outgrows() bool { return d.grown >= max(d.step(), diskStepCount) }

// allowance is by how much the file systems may grow before the sandbox must be counted again.
func (d *disk) allowance() int64 {
	step := d.step()
	switch {
	case d.scarce, d.full():
		return min(step, diskStepFull)
	default:
		return max(step, d.limit-d.used)
	}
}

// pause is how long to wait for the next look: not longer than it takes to use the allowance up.
func (d *disk) pause() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := time.Duration(float64(d.allowance()-d.grown) / diskRate * float64(time.Second))
	return min(max(left, diskTickLeast), diskTick)
}

// most is how much there may be where a count does not find everything, when the file systems had grown by so much
// since the count before.
func (d *disk) most(held *contents, grown int64) int64 {
	if !d.known {
		return held.bytes + grown
	}
	return d.used + grown + d.grown
}

// within reports whether it is worth to go on counting: what holds twice the limit may hold any amount.
func (d *disk) within(held *contents) bool { return held.bytes < 2*d.limit }

// count sets what the sandbox holds, and reports whether it has to be ended for that, and by which limit. Being above
// the limit is no reason by itself: it has to be tidied up somehow.
func (d *disk) count(held *contents) (limit string) {
	grew := held.bytes > d.used
	if d.foreign {
		grew = d.known && (held.bytes > d.used+d.step() || !d.within(held))
	}
	switch {
	case grew && held.bytes > d.limit:
		limit = "disk"
	case grew && d.scarce && d.before:
		limit = "free disk"
	}
	d.known, d.used, d.before, d.hidden = true, held.bytes, d.scarce, 0
	return limit
}

// full reports whether nothing may be written before something is deleted. What a person had before is no reason.
func (d *disk) full() bool { return d.used > d.limit && !d.foreign }

// room is how large a file may become.
func (d *disk) room() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.known:
		return d.limit
	case d.full():
		return 0
	default:
		return max(d.limit-d.used, leastRoom)
	}
}
