//go:build linux

package bwrap

import (
	"time"

	"golang.org/x/sys/unix"
)

// killTimeout is how long killing a command may take before the whole sandbox is given up. It takes milliseconds, but
// more on a machine where many others compute.
const killTimeout = 3 * time.Second

// stop kills the command with all that it started. A command of which nothing is found although it has not ended was
// never begun: then the init is not working, and neither is the sandbox.
func (b *box) stop(c *command) {
	found, clean := b.kill(func(p process) bool { return p.mark == mark(c.id) })
	select {
	case <-c.ended:
		found = true
	default:
	}
	if !clean || !found && time.Since(c.begun) > time.Second {
		b.fail()
	}
}

// kill ends all processes that match, and their descendants, for good. They are stopped first, so that they cannot
// start new ones faster than they are found; stopped ones also use up the room that new ones would need. It reports
// whether there were any and whether all are gone.
func (b *box) kill(match func(process) bool) (found, clean bool) {
	seen := map[int]process{}
	for end := time.Now().Add(killTimeout); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		for b.freeze(match, seen) && time.Now().Before(end) {
		}
		found = found || len(seen) > 0
		if len(seen) == 0 {
			return found, true
		}
		for _, p := range seen {
			b.view.signal(p, unix.SIGKILL)
		}
		clear(seen)
	}
	return found, false
}

// freeze stops those that match and were not seen before, and reports whether there were any.
func (b *box) freeze(match func(process) bool, seen map[int]process) bool {
	fresh := false
	for _, p := range family(b.view.processes(), match) {
		if _, ok := seen[p.pid]; !ok && !p.zombie {
			seen[p.pid], fresh = p, true
			b.view.signal(p, unix.SIGSTOP)
		}
	}
	return fresh
}

// family are the processes that match and their descendants.
func family(all []process, match func(process) bool) []process {
	in := map[int]bool{}
	var out []process
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !in[p.pid] && (in[p.parent] || match(p)) {
				in[p.pid], grown = true, true
				out = append(out, p)
			}
		}
	}
	return out
}

// leftBy counts the processes that an ended command left running.
func (b *box) leftBy(c *command) int {
	n := 0
	for _, p := range b.view.processes() {
		if p.mark == mark(c.id) && p.pid != c.waiter && !p.zombie {
			n++
		}
	}
	return n
}
