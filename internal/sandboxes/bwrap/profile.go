//go:build linux

package bwrap

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/sandbox"
)

// Numbers that the agent sees.
const (
	insideUID = "1000"
	insideRun = "/run/pudu" // the runtime folder, read-only inside
	shmSize   = 64 << 20
)

// namespaces are what is not shared with the host, and the privileges that are given up. There is no option to share
// the network: it would open every service of the host.
//
// Two variables save every program time: without SHELL each bash looks for its user in /etc; and C.UTF-8 differs from C
// in nothing but its characters, so that LANG would only make each program open eleven more files to say the same.
var namespaces = []string{
	"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net",
	"--uid", insideUID, "--gid", insideUID, "--hostname", "sandbox", "--disable-userns",
	"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
	"--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", sandbox.Workspace,
	"--setenv", "SHELL", "/bin/bash", "--setenv", "LC_CTYPE", "C.UTF-8", "--setenv", "TMPDIR", "/tmp",
}

// hostFiles are files of the host's /etc that programs need and that say nothing about it.
var hostFiles = []string{
	"/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/localtime",
	"/etc/fonts", "/etc/mime.types", "/etc/pki/tls/certs",
}

// etcFiles are files of /etc made for the sandbox.
var etcFiles = []struct{ path, text string }{
	{"/etc/passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:" + sandbox.Workspace +
		":/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{"/etc/group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"},
	{"/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"},
	{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
}

// fds are the numbers under which bwrap finds its files.
type fds struct {
	seccomp, info int
	etc           []int
}

// profile is the list of bwrap's options. The last of the mounts makes the root read-only.
func profile(runtime string, mounts []sandbox.Mount, limits sandbox.Limits, fd fds) []string {
	args := slices.Clone(namespaces)
	args = append(args, "--ro-bind", "/usr", "/usr")
	args = append(args, rootLinks(os.Readlink)...)
	for _, f := range hostFiles {
		args = append(args, "--ro-bind-try", f, f)
	}
	for i, f := range etcFiles {
		args = append(args, "--perms", "0444", "--file", strconv.Itoa(fd.etc[i]), f.path)
	}
	// /proc/sys is writable for whoever is root on the host; nobody here is, and this keeps it so. The device
	// folder is a tmpfs without a bound, so it becomes read-only as well.
	args = append(args, "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev",
		"--perms", "1777", "--size", strconv.Itoa(shmSize), "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
		"--perms", "1777", "--size", strconv.FormatInt(limits.Tmp, 10), "--tmpfs", "/tmp",
		"--ro-bind", runtime, insideRun, "--dir", sandbox.UserData)
	args = append(args, binds(mounts)...)
	return append(args, "--chdir", "/", "--seccomp", strconv.Itoa(fd.seccomp), "--info-fd", strconv.Itoa(fd.info),
		"--remount-ro", "/")
}

func binds(mounts []sandbox.Mount) []string {
	mounts = slices.Clone(mounts)
	slices.SortFunc(mounts, func(a, b sandbox.Mount) int { return cmp.Compare(a.Path, b.Path) })
	var args []string
	for _, m := range mounts {
		bind := "--bind"
		if m.ReadOnly {
			bind = "--ro-bind"
		}
		args = append(args, bind, m.Host, m.Path)
	}
	if !slices.ContainsFunc(mounts, func(m sandbox.Mount) bool { return m.Path == sandbox.Workspace }) {
		args = append(args, "--dir", sandbox.Workspace)
	}
	return args
}

// rootLinks repeats the host's links from / into /usr; where a system still has real folders, they are bound.
func rootLinks(readlink func(string) (string, error)) []string {
	var args []string
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		target, err := readlink(dir)
		if err == nil && strings.HasPrefix(strings.TrimPrefix(target, "/"), "usr/") {
			args = append(args, "--symlink", target, dir)
			continue
		}
		args = append(args, "--ro-bind-try", dir, dir)
	}
	return args
}
