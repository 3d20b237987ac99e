//go:build linux

package bwrap

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// memoryTickLeast is how often the memory is looked at when a sandbox is near its limit.
	memoryTickLeast = 5 * time.Millisecond
	// memoryCount is how long a count holds while memory is freed: what others free hides what a sandbox takes.
	memoryCount = time.Second
	// memoryRate is how much memory a sandbox is thought to take in a second at most.
	memoryRate = 8 << 30
)

// memory bounds what the processes of a sandbox take where no cgroup does. What each has for itself the kernel tells.
// What they share are files in memory: those of /tmp and /dev/shm, and nameless ones. Those are looked for when the
// shared memory of the whole machine has grown by so much that the limit may be passed, and once a second while some of
// it is freed.
type memory struct {
	limit   int64
	view    *view
	devices map[uint64]bool // on which nameless files in memory are

	shared int64     // counted last
	grown  int64     // of the machine's since: each gain between two looks, without the losses
	filled int64     // the machine's at the last look
	freed  bool      // some of the machine's was freed since the last count
	count  time.Time // when that is due if some was freed
	left   int64     // what may still be taken
	next   time.Time
}

func newMemory(limit int64, v *view) *memory {
	m := &memory{limit: limit, view: v, devices: map[uint64]bool{}, filled: sharedMemory(), left: limit}
	if fd, err := unix.MemfdCreate("pudu", unix.MFD_CLOEXEC); err == nil {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil {
			m.devices[st.Dev] = true
		}
		unix.Close(fd)
	}
	return m
}

// sharedMemory is what files in memory take on the whole machine.
func sharedMemory() int64 {
	return int64(field("/proc/meminfo", "Shmem:")) << 10
}

// pause is how long the next look can wait: not longer than it takes to use up what is left.
func (m *memory) pause() time.Duration {
	left := time.Duration(float64(m.left) / memoryRate * float64(time.Second))
	return min(max(left, memoryTickLeast), tick)
}

// passed reports whether processes take more than the limit, and the command that takes most.
func (m *memory) passed(all []process) (worstMark uint64, passed bool) {
	use, total := tally(all)
	filled := sharedMemory()
	m.grown += max(filled-m.filled, 0)
	m.freed = m.freed || filled < m.filled
	m.filled = filled
	m.left = m.limit - total.memory - m.shared - m.grown
	if m.left >= 0 && (!m.freed || time.Now().Before(m.count)) {
		return 0, false
	}
	kept := m.view.keptBy(all)
	m.countShared(kept)
	if m.left = m.limit - total.memory - m.shared; m.left >= 0 {
		return 0, false
	}
	for id, f := range kept.files {
		if m.devices[id.dev] {
			u := use[f.mark]
			u.memory += f.bytes + f.guess
			use[f.mark] = u
		}
	}
	return worst(use, func(u usage) int64 { return u.memory }), true
}

func (m *memory) countShared(kept *nameless) {
	exact, guess := kept.on(m.devices)
	exact += m.view.inMemory("tmp") + m.view.inMemory("dev/shm")
	m.shared, m.grown = estimate(exact, guess, m.shared+m.grown, kept.blind), 0
	m.freed, m.count = false, time.Now().Add(memoryCount)
}
