//go:build linux

package bwrap

import (
	"time"
)

const (
	// tick is how often the watchdog looks while something runs.
	tick = 250 * time.Millisecond
	// crowded is for how many ticks the number of processes may be at its limit: a build may touch it for a moment, a
	// fork bomb stays.
	crowded = 4
	// lostAfter is when a command of which no process was ever seen counts as lost.
	lostAfter = 5 * time.Second
)

// watch guards what the kernel does not bound: the disk always, processes that stay at their limit, the memory where
// there is no cgroup. It sleeps while nothing runs.
func (b *box) watch() {
	w := &watchdog{box: b}
	for {
		select {
		case <-b.dead:
			return
		case <-b.wake:
		}
		for busy := true; busy; {
			select {
			case <-b.dead:
				return
			case <-time.After(tick):
			}
			busy = w.look()
		}
	}
}

type watchdog struct {
	box   *box
	full  int // ticks in a row with all processes used
	disk  disk
	dirty bool // something ran since the disk was measured
}

// usage is what the processes of one command take.
type usage struct {
	threads int
	memory  int64
}

// look checks everything once and reports whether it has to come again.
func (w *watchdog) look() bool {
	all := w.box.view.processes()
	commands := w.box.commands()
	use, total := tally(all)
	w.settleLost(commands, use)
	w.checkProcesses(use, total)
	w.checkMemory(use, total)
	busy := len(all) > 0 || len(commands) > 0
	w.dirty = w.dirty || busy
	w.checkDisk()
	return busy || w.dirty
}

func tally(all []process) (map[uint64]usage, usage) {
	use, total := map[uint64]usage{}, usage{}
	for _, p := range all {
		u := use[p.mark]
		u.threads += p.threads
		u.memory += p.memory
		use[p.mark] = u
		total.threads += p.threads
		total.memory += p.memory
	}
	return use, total
}

// settleLost ends the wait for commands whose reporting shell was killed from inside.
func (w *watchdog) settleLost(commands []*command, use map[uint64]usage) {
	for _, c := range commands {
		if _, ok := use[mark(c.id)]; ok {
			c.seen, c.absent = true, 0
			continue
		}
		c.absent++
		if c.absent > 1 && (c.seen || time.Since(c.begun) > lostAfter) {
			c.settle(exitKilled, 0)
		}
	}
}

func (w *watchdog) checkProcesses(use map[uint64]usage, total usage) {
	limit := w.box.spec.Limits.Processes
	if total.threads+firstFreePid-1 < limit-limit/16 { // what comes and goes makes it sink for moments
		w.full = max(w.full-1, 0)
		return
	}
	if w.full++; w.full >= crowded {
		w.full = 0
		w.end("processes", worst(use, func(u usage) int64 { return int64(u.threads) }))
	}
}

func (w *watchdog) checkMemory(use map[uint64]usage, total usage) {
	if !w.box.group.has("memory") && total.memory > w.box.spec.Limits.Memory {
		w.end("memory", worst(use, func(u usage) int64 { return u.memory }))
	}
}

func worst(use map[uint64]usage, size func(usage) int64) uint64 {
	var out uint64
	most := int64(-1)
	for mark, u := range use {
		if s := size(u); s > most {
			out, most = mark, s
		}
	}
	return out
}

// end kills a command, running or in the background, that takes too much of something.
func (w *watchdog) end(limit string, marked uint64) {
	w.endAll(limit, func(m uint64) bool { return m == marked })
}

func (w *watchdog) endAll(limit string, match func(mark uint64) bool) {
	var hit []*command
	for _, c := range w.box.commands() {
		if match(mark(c.id)) {
			c.breach(limit)
			hit = append(hit, c)
		}
	}
	if _, clean := w.box.kill(func(p process) bool { return match(p.mark) }); !clean {
		w.box.fail()
	}
	for _, c := range hit {
		c.settle(exitKilled, 0)
	}
}

// checkDisk ends everything when the writable mounts hold too much and still grow: nobody can tell who writes. A full
// workspace alone is no reason, it has to be tidied up somehow.
func (w *watchdog) checkDisk() {
	if !w.dirty || !w.disk.due(time.Now()) {
		return
	}
	w.dirty = false
	limit := w.box.spec.Limits.Disk
	before, known := w.disk.used, w.disk.known
	used := w.disk.measure(w.box.spec.Mounts, 2*limit)
	w.box.mu.Lock()
	w.box.room = limit - used
	w.box.mu.Unlock()
	if used > limit && known && used > before {
		w.endAll("disk", func(uint64) bool { return true })
	}
}
