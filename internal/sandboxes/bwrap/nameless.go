//go:build linux

package bwrap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// nameless are the files without a name that the processes of a sandbox keep alive: they were deleted while they were
// open, or live in memory and never had one. No walk finds them.
type nameless struct {
	files map[inode]*keptFile
	// blind means that there may be others: a process could not be looked into, or files are on their way from one to
	// another in a socket.
	blind bool
}

type keptFile struct {
	bytes int64  // that are allocated
	guess int64  // or how much of it is mapped, where the kernel does not tell
	mark  uint64 // the command of the first process that keeps it
}

// endTimeout is how long to wait for processes that are just ending. It takes a moment, but more on a machine that
// computes much else.
const endTimeout = time.Second

// keptBy looks for the nameless files of processes.
func (v *view) keptBy(all []process) *nameless {
	n := &nameless{files: map[inode]*keptFile{}}
	patience := time.Now().Add(endTimeout)
	for _, p := range all {
		for tries := 3; ; time.Sleep(time.Millisecond) {
			seen, ending := n.look(v, p)
			if seen {
				break
			}
			if ending && time.Now().Before(patience) {
				continue
			}
			if tries--; tries == 0 {
				n.blind = true
				break
			}
		}
	}
	return n
}

// look looks into a process, and reports whether it could or the process has ended. The kernel refuses it for one that
// is just ending.
func (n *nameless) look(v *view, p process) (seen, ending bool) {
	now, alive := v.look(p.pid)
	if !alive || now.zombie {
		return true, false
	}
	dir, err := v.open(strconv.Itoa(p.pid))
	if err != nil {
		return true, false
	}
	defer dir.Close()
	return n.opened(dir, p.mark) && n.mapped(dir, now.thread, p.mark), now.ending
}

// opened looks at the descriptors of all threads: each may have its own.
func (n *nameless) opened(proc *os.File, mark uint64) bool {
	tasks, ok := list(proc, "task")
	for _, task := range tasks {
		base := "task/" + task
		names, seen := list(proc, base+"/fd")
		if !seen { // one that has ended has none
			var t process
			seen = t.parseStat(readAt(int(proc.Fd()), base+"/stat")) && t.zombie
		}
		ok = ok && seen
		for _, name := range names {
			var st unix.Stat_t
			if unix.Fstatat(int(proc.Fd()), base+"/fd/"+name, &st, 0) != nil {
				continue
			}
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				if st.Nlink == 0 {
					n.add(inode{st.Dev, st.Ino}, mark).bytes = st.Blocks * 512
				}
			case unix.S_IFSOCK:
				info := readAt(int(proc.Fd()), base+"/fdinfo/"+name)
				_, waiting, found := bytes.Cut(info, []byte("\nscm_fds: "))
				n.blind = n.blind || found && !bytes.HasPrefix(waiting, []byte("0\n"))
			}
		}
	}
	return ok
}

// list returns the names in a folder of a process, and whether it may be read.
func list(proc *os.File, name string) ([]string, bool) {
	fd, err := unix.Openat(int(proc.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, !errors.Is(err, os.ErrPermission)
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // it may end meanwhile
	return names, true
}

func (n *nameless) add(id inode, mark uint64) *keptFile {
	f := n.files[id]
	if f == nil {
		f = &keptFile{mark: mark}
		n.files[id] = f
	}
	return f
}

// mapped looks at what is mapped into memory, as a thread sees it.
func (n *nameless) mapped(proc *os.File, thread string, mark uint64) bool {
	fd, err := unix.Openat(int(proc.Fd()), thread+"maps", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return !errors.Is(err, os.ErrPermission)
	}
	maps := os.NewFile(uintptr(fd), "maps")
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		m, ok := parseMapping(lines.Text())
		if !ok {
			continue
		}
		f := n.add(m.file, mark)
		var st unix.Stat_t
		if f.bytes == 0 && unix.Fstatat(int(proc.Fd()), "map_files/"+m.at, &st, 0) == nil {
			f.bytes = st.Blocks * 512
		} else if f.bytes == 0 {
			f.guess = max(f.guess, m.end)
		}
	}
	return true
}

// mapping is a line of /proc/pid/maps about a deleted file.
type mapping struct {
	at   string // the addresses
	file inode
	end  int64 // how far into the file it reaches
}

// parseMapping reads "7f00-7f10 rw-s 00001000 08:01 1234   /path (deleted)".
func parseMapping(line string) (m mapping, ok bool) {
	if !strings.HasSuffix(line, " (deleted)") {
		return m, false
	}
	var from, to, offset, major, minor uint64
	var rights string
	if _, err := fmt.Sscanf(line, "%x-%x %s %x %x:%x %d", &from, &to, &rights, &offset, &major, &minor,
		&m.file.ino); err != nil || to < from {
		return m, false
	}
	m.at, _, _ = strings.Cut(line, " ")
	m.file.dev = unix.Mkdev(uint32(major), uint32(minor))
	m.end = int64(to - from + offset)
	return m, m.end >= 0
}

// on adds up the files on some devices: what is known of them, and what may be there beside.
func (n *nameless) on(devices map[uint64]bool) (bytes, guess int64) {
	for id, f := range n.files {
		if devices[id.dev] {
			bytes += f.bytes
			guess += f.guess
		}
	}
	return bytes, guess
}

// estimate is how much something takes of which exact bytes were counted. Beside them there may be guess, or anything
// when it was counted blindly, but not more in all than most.
func estimate(exact, guess, most int64, blind bool) int64 {
	if blind {
		guess = most
	}
	return exact + min(guess, max(most-exact, 0))
}
