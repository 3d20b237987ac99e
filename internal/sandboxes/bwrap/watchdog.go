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
	if !b.group.has("memory") {
		w.memory = newMemory(b.spec.Limits.Memory, b.view)
	}
	for {
		select {
		case <-b.dead:
			return
		case <-b.wake:
		}
		w.next = time.Now().Add(tick)
		for busy := true; busy; {
			select {
			case <-b.dead:
				return
			case <-time.After(w.pause()):
			}
			busy = w.look()
		}
	}
}

type watchdog struct {
	box    *box
	memory *memory   // nil where a cgroup bounds it
	next   time.Time // when the processes are looked at again
	full   int       // ticks in a row with all processes used
	dirty  bool      // something ran since the mounts were last counted
	rest   time.Time // until when they are not counted again
}

func (w *watchdog) pause() time.Duration {
	wait := w.box.disk.pause()
	if w.memory != nil {
		wait = min(wait, w.memory.pause())
	}
	return wait
}

// usage is what the processes of one command take.
type usage struct {
	threads int
	memory  int64
}

// look checks everything that is due and reports whether it has to come again.
func (w *watchdog) look() bool {
	w.box.checkDisk()
	w.checkMemory()
	if time.Now().Before(w.next) {
		return true
	}
	w.next = time.Now().Add(tick)
	all := w.box.view.processes()
	commands := w.box.commands()
	use, total := tally(all)
	w.settleLost(commands, use)
	w.checkProcesses(use, total)
	busy := len(all) > 0 || len(commands) > 0
	if w.dirty = w.dirty || busy; !busy {
		w.countIdle()
	}
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
		w.box.endMarked("processes", worst(use, func(u usage) int64 { return int64(u.threads) }))
	}
}

// checkMemory looks at the memory when what was left at the last look can be used up.
func (w *watchdog) checkMemory() {
	if w.memory == nil || time.Now().Before(w.memory.next) {
		return
	}
	if marked, passed := w.memory.passed(w.box.view.processes()); passed {
		w.box.endMarked("memory", marked)
	}
	w.memory.next = time.Now().Add(w.memory.pause())
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

// endMarked kills a command, running or in the background, that takes too much of something.
func (b *box) endMarked(limit string, marked uint64) {
	b.end(limit, func(p process) bool { return p.mark == marked })
}

// end kills the commands that match.
func (b *box) end(limit string, match func(process) bool) {
	var hit []*command
	for _, c := range b.commands() {
		if match(process{mark: mark(c.id)}) {
			c.breach(limit)
			hit = append(hit, c)
		}
	}
	if _, clean := b.kill(match); !clean {
		b.fail()
	}
	for _, c := range hit {
		c.settle(exitKilled, 0)
	}
}

// countIdle counts what the mounts hold when nothing runs and their file systems have changed, seldom enough to take at
// most a twentieth of one processor. It gives up when a command begins: while something runs, files can move about.
func (w *watchdog) countIdle() {
	b, d, now := w.box, w.box.disk, time.Now()
	if now.Before(w.rest) {
		return
	}
	w.dirty = false
	grown, changed := d.changed()
	if !changed {
		return
	}
	begun := b.begun()
	held := occupied(d.mounts, func(held *contents) bool { return d.within(held) && !b.isDead() && b.begun() == begun })
	w.rest = time.Now().Add(20 * time.Since(now))
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.begun() == begun {
		d.count(held)
		d.grown = max(d.grown-grown, 0)
	}
}
