//go:build linux

package bwrap

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// pauseTimeout bounds how long processes may go on starting new ones faster than they are stopped.
const pauseTimeout = time.Second

// pause stops all commands and what they left running. The function that it returns lets those go on that were not
// stopped before, children before their parents: a shell that controls jobs shall not see them stopped.
func (b *box) pause() (all []process, resume func()) {
	seen := map[int]process{}
	for end := time.Now().Add(pauseTimeout); b.freeze(everything, seen) && time.Now().Before(end); {
	}
	for _, p := range seen {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b process) int { return b.pid - a.pid })
	return all, func() {
		for _, p := range all {
			if !p.stopped {
				b.view.signal(p, unix.SIGCONT)
			}
		}
	}
}

func everything(process) bool { return true }

// measure stops the sandbox, counts what it holds, and ends what runs in it or lets it go on. The disk's lock is held.
func (b *box) measure() {
	d := b.disk
	begun := time.Now()
	all, resume := b.pause()
	defer resume()
	defer func() { d.rest = time.Now().Add(20 * time.Since(begun)) }()
	d.look()
	before := d.grown
	d.grown = 0
	held := occupied(d.mounts, func(held *contents) bool {
		d.look()
		return d.within(held) && !b.isDead() && (!d.outgrows() || b.stopped())
	})
	runaway := held.partial && d.within(held)
	kept := b.view.keptBy(all)
	exact, guess := kept.on(devices(d.mounts))
	held.bytes += exact
	held.bytes = estimate(held.bytes, guess, d.most(held, before), kept.blind || runaway)
	if limit := d.count(held); limit != "" {
		b.end(limit, everything)
		d.count(occupied(d.mounts, d.within)) // what had no name went with the processes
	}
}

// stopped reports whether all processes have really stopped: a long write goes on although its process shall stop.
func (b *box) stopped() bool {
	return !slices.ContainsFunc(b.view.processes(), func(p process) bool { return !p.stopped && !p.zombie })
}

// devices are those of the writable mounts.
func devices(mounts []sandbox.Mount) map[uint64]bool {
	out := map[uint64]bool{}
	for _, m := range mounts {
		var st unix.Stat_t
		if !m.ReadOnly && unix.Stat(m.Host, &st) == nil {
			out[st.Dev] = true
		}
	}
	return out
}

// checkDisk measures the sandbox if it may hold more than it may, or less is left on the disk than there has to be.
func (b *box) checkDisk() {
	d := b.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	if d.due() {
		b.measure()
	}
}

// above reports at the end of a command whether the sandbox holds more than it may.
func (b *box) above() bool {
	d := b.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look()
	if d.used+d.grown+d.hidden > d.limit && !d.foreign {
		b.measure()
	}
	return d.full()
}
