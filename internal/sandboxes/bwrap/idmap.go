//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A folder of a person that a server run by root shows is shown with mapped users (mount_setattr(2), Linux 5.12): the
// sandbox's user sees it as its own, and what it writes there belongs to the folder's owner. Nothing on the disk
// changes hands.

// showMapped mounts a folder at another place so that its owner's files are the user's. It is seen by the calling
// thread's mounts alone.
func showMapped(from, to string, who identity) error {
	var st unix.Stat_t
	if err := unix.Stat(from, &st); err != nil {
		return err
	}
	users, err := userMap(int(st.Uid), int(st.Gid), who)
	if err != nil {
		return fmt.Errorf("make a map of users: %w", err)
	}
	defer users.Close()
	tree, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(users.Fd())}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return err
	}
	return unix.MoveMount(tree, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// userMap returns a user namespace in which the owner of files is the sandbox's user. It is taken from a process that
// does nothing and is gone when userMap returns.
func userMap(uid, gid int, who identity) (*os.File, error) {
	cmd := exec.Command("/bin/sleep", "60") //nolint:noctx // killed below
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		Pdeathsig:   syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: who.uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: who.gid, Size: 1}},
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	users, err := os.Open("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/ns/user")
	_ = cmd.Process.Kill() // it waits for nothing else
	_ = cmd.Wait()
	return users, err
}

// unmappable reports whether the kernel or the file system cannot map users.
func unmappable(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) ||
		errors.Is(err, unix.EPERM)
}
