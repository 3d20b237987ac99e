package crash

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// diskEnv makes TestTheDiskIsFull a process with a mount namespace of its own; its value is where the small disk is
// mounted.
const diskEnv = "PUDU_CRASH_DISK"

func TestTheDiskIsFull(t *testing.T) {
	if dir := os.Getenv(diskEnv); dir != "" {
		onSmallDisk(t, dir)
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), diskEnv+"="+dirFor(t))
	cmd.SysProcAttr = ownMounts()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// ownMounts gives a process mounts of its own, for which root needs nothing more and others a user namespace.
func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	return attr
}

func onSmallDisk(t *testing.T, dir string) {
	c := startCampaign(t, order{Dir: dir, NoShell: true})
	o := c.orderIn("small")
	data := filepath.Join(o.Dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("small", data, "tmpfs", 0, "size=24m"),
	); err != nil {
		t.Fatalf("mount a small disk: %v", err)
	}
	filler := filepath.Join(data, "filler")
	fill := func() error {
		f, err := os.Create(filler)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err = io.Copy(f, endless{}); !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		return nil
	}
	const tries = 3 // of the server, which looks once a second for runs to go on with
	c.outage(t, o, tries, fill, func() error { return os.Remove(filler) })
	if err := syscall.Unmount(data, 0); err != nil {
		t.Error(err)
	}
}

// endless reads as zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
