//go:build linux

package bwrap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"syscall"
)

// identity is the user of the host under which a sandbox runs. It is never root: started by root, bwrap would only map
// that user, and a process inside could still write to /proc/sys.
type identity struct {
	uid, gid int
	drop     bool // the server is root and has to become that user
}

// identity derives the user from the sandbox's id, so that a thread finds its files its own again. A server that is not
// root has no choice but itself.
func (c Config) identity(id string) (identity, error) {
	if uid := os.Geteuid(); uid != 0 {
		return identity{uid: uid, gid: os.Getegid()}, nil
	}
	if !c.mapped {
		return identity{}, errNoIDs
	}
	h := fnv.New32a()
	h.Write([]byte(id))
	uid := c.FirstUID + int(h.Sum32()%uint32(c.UIDs))
	return identity{uid: uid, gid: uid, drop: true}, nil
}

var errNoIDs = errors.New("the user ids for sandboxes do not exist in this user namespace; " +
	"give the server's container at least 65536 ids, or run the server as a plain user")

// credential is what the kernel needs to know to start a process as that user; nil means "as the server".
func (w identity) credential() *syscall.Credential {
	if !w.drop {
		return nil
	}
	return &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.gid), Groups: []uint32{}}
}

// give makes a file of the server the sandbox user's.
func (w identity) give(path string) error {
	if !w.drop {
		return nil
	}
	return os.Lchown(path, w.uid, w.gid)
}

// idsMapped reports whether all of first..first+n-1 are users and groups of this user namespace.
func idsMapped(first, n int) bool {
	return mapped("/proc/self/uid_map", first, n) && mapped("/proc/self/gid_map", first, n)
}

func mapped(file string, first, n int) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return true // no user namespaces: every id exists
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var inside, outside, count int
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &count); err != nil {
			continue
		}
		if first >= inside && first+n <= inside+count {
			return true
		}
	}
	return false
}
