//go:build linux

package bwrap

import (
	"cmp"
	"os"
)

// Config adjusts a [Provider]; the zero value is the usual one.
type Config struct {
	// Binary is the bwrap program: a name in PATH or a path. Default "bwrap".
	Binary string
	// RuntimeDir is where the small folders for talking to sandboxes are made. All users must be able to pass
	// through it. Default: the system's folder for temporary files.
	RuntimeDir string
	// FirstUID and UIDs are the range of host users that a server run by root hands out to sandboxes. They should be
	// nobody else's. Default 200000 and 60000, or 20000 and 40000 where a user namespace does not reach that far.
	FirstUID, UIDs int
	// NoCgroup makes rlimits and the watchdog enforce all limits even where a cgroup could be made.
	NoCgroup bool

	mapped bool // the range exists in this user namespace, which does not change while the process lives
}

func (c Config) orDefault() Config {
	c.Binary = cmp.Or(c.Binary, "bwrap")
	c.RuntimeDir = cmp.Or(c.RuntimeDir, os.TempDir())
	if c.FirstUID <= 0 || c.UIDs <= 0 {
		c.FirstUID, c.UIDs = 200000, 60000
		if !idsMapped(c.FirstUID, c.UIDs) {
			c.FirstUID, c.UIDs = 20000, 40000
		}
	}
	c.mapped = idsMapped(c.FirstUID, c.UIDs)
	return c
}
