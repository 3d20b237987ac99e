//go:build linux

package bwrap

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/sandbox"
)

// decide runs the filter for a system call. The machine of package bpf reads big-endian, as packets are.
func decide(t *testing.T, arch, nr, arg0 uint32, arg1 uint64) uint32 {
	t.Helper()
	vm, err := bpf.NewVM(filter())
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[offNumber:], nr)
	binary.BigEndian.PutUint32(data[offArch:], arch)
	binary.BigEndian.PutUint32(data[offArg0:], arg0)
	binary.BigEndian.PutUint32(data[offArg1:], uint32(arg1))
	binary.BigEndian.PutUint32(data[offArg1+4:], uint32(arg1>>32))
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func TestFilter(t *testing.T) {
	const other = 0xdead
	tests := []struct {
		name         string
		arch, nr, a0 uint32
		a1           uint64
		want         uint32
	}{
		{"foreign processor", other, unix.SYS_READ, 0, 0, kill},
		{"read", auditArch, unix.SYS_READ, 0, 0, allow},
		{"execve", auditArch, unix.SYS_EXECVE, 0, 0, allow},
		{"clone3", auditArch, unix.SYS_CLONE3, 0, 0, enoss},
		{"thread", auditArch, unix.SYS_CLONE, unix.CLONE_VM | unix.CLONE_THREAD, 0, allow},
		{"fork", auditArch, unix.SYS_CLONE, uint32(unix.SIGCHLD), 0, allow},
		{"new user namespace", auditArch, unix.SYS_CLONE, unix.CLONE_NEWUSER | uint32(unix.SIGCHLD), 0, eperm},
		{"unix socket", auditArch, unix.SYS_SOCKET, unix.AF_UNIX, 0, allow},
		{"inet6 socket", auditArch, unix.SYS_SOCKET, unix.AF_INET6, 0, allow},
		{"netlink socket", auditArch, unix.SYS_SOCKET, unix.AF_NETLINK, 0, allow},
		{"vsock", auditArch, unix.SYS_SOCKET, unix.AF_VSOCK, 0, eperm},
		{"packet socket", auditArch, unix.SYS_SOCKET, unix.AF_PACKET, 0, eperm},
		{"window size", auditArch, unix.SYS_IOCTL, 0, unix.TIOCGWINSZ, allow},
		{"typing on a terminal", auditArch, unix.SYS_IOCTL, 0, unix.TIOCSTI, eperm},
		{"console", auditArch, unix.SYS_IOCTL, 0, tioclinux, eperm},
		{"reserving space", auditArch, unix.SYS_FALLOCATE, 0, 0, enots},
		{"reserving space by ioctl", auditArch, unix.SYS_IOCTL, 0, 0x40305828, enots},
		{"zeroing a range by ioctl", auditArch, unix.SYS_IOCTL, 0, 0x40305839, enots},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := decide(t, tt.arch, tt.nr, tt.a0, tt.a1); got != tt.want {
				t.Errorf("got %#x, want %#x", got, tt.want)
			}
		})
	}
	for _, nr := range slices.Concat(denied, deniedHere) {
		if got := decide(t, auditArch, nr, 0, 0); got != eperm {
			t.Errorf("call %d: got %#x", nr, got)
		}
	}
	if x32Bit != 0 && decide(t, auditArch, x32Bit+unix.SYS_READ, 0, 0) != eperm {
		t.Error("x32 passes")
	}
}

func TestProfile(t *testing.T) {
	mounts := []sandbox.Mount{{Host: "/h/b", Path: "/mnt/skills/b"},
		{Host: "/h/a", Path: "/mnt/skills", ReadOnly: true}}
	args := profile("/run/x", mounts, sandbox.Limits{}.OrDefault(), fds{etc: []int{1, 2, 3, 4}})
	if n := len(args); args[n-2] != "--remount-ro" || args[n-1] != "/" {
		t.Errorf("the root must be made read-only last: %q", args[n-4:])
	}
	line := strings.Join(args, " ")
	for _, want := range []string{
		"--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup --unshare-net", "--disable-userns",
		"--die-with-parent", "--new-session", "--cap-drop ALL", "--clearenv", "--ro-bind /proc/sys /proc/sys",
		"--size 268435456 --tmpfs /tmp", "--ro-bind /h/a /mnt/skills --bind /h/b /mnt/skills/b --dir " +
			sandbox.Workspace,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %s", want, line)
		}
	}
	for _, never := range []string{"-try --unshare", "--share-net", "--unshare-user-try", "--dev-bind", "resolv.conf"} {
		if strings.Contains(line, never) {
			t.Errorf("%q in %s", never, line)
		}
	}
}

func TestRootLinks(t *testing.T) {
	read := func(p string) (string, error) {
		if l, ok := map[string]string{"/bin": "usr/bin", "/lib": "/usr/lib", "/lib64": "somewhere"}[p]; ok {
			return l, nil
		}
		return "", os.ErrInvalid
	}
	got := strings.Join(rootLinks(read), " ")
	want := "--symlink usr/bin /bin --ro-bind-try /sbin /sbin --symlink /usr/lib /lib --ro-bind-try /lib32 /lib32 --ro-bind-try /lib64 /lib64 --ro-bind-try /libx32 /libx32"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestQuoteIsOneWord(t *testing.T) {
	for _, s := range []string{"", "a b", "it's", "''", `\'$(x)`, "a\nb", "\xff\x01", "*", "-n"} {
		out, err := exec.Command("/bin/bash", "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q became %q, %v", s, out, err)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "'", "a'b'", `\`, "'; rm -rf /; '"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// Outside of quotes there may be nothing but escaped quotes.
		if rest := strings.Join(everySecond(strings.Split(quote(s), "'")), ""); strings.Trim(rest, `\`) != "" {
			t.Fatalf("%q leaves %q outside of the quotes", s, rest)
		}
	})
}

// everySecond are the parts of '...' \' '...' that lie outside of quotes; the escaped quote itself splits too.
func everySecond(parts []string) []string {
	var out []string
	quoted := false
	for i, p := range parts {
		if !quoted {
			out = append(out, p)
		}
		if i+1 < len(parts) && (quoted || p != `\`) {
			quoted = !quoted
		}
	}
	return out
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("1 0 7\n"))
	f.Add([]byte("18446744073709551615 255 1"))
	f.Add([]byte("x y z"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, exit, _, ok := parseStatus(line); ok && (exit < 0 || exit > 255) {
			t.Fatalf("exit code %d", exit)
		}
	})
}

func FuzzProc(f *testing.F) {
	f.Add([]byte("12 (a) b) R) S 1 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 1 1"))
	f.Add([]byte("\nMax file locks            1099511627777 7 locks\n"))
	f.Add([]byte("100 20 10"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p process
		p.parseStat(data)
		p.parseStatm(data)
		parseMark(data)
		if p.memory < 0 {
			t.Fatal("negative memory")
		}
	})
}

func TestParseProc(t *testing.T) {
	var p process
	if !p.parseStat([]byte("12 (a) R 99) S 7 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 1 1")) || p.parent != 7 ||
		p.threads != 3 || p.zombie || p.ending {
		t.Errorf("stat: %+v", p)
	}
	if !p.parseStat([]byte("12 (a) R 7 12 12 0 -1 4194564 1 0 0 0 0 0 0 0 20 0 3 0 1 1")) || !p.ending {
		t.Errorf("stat of one that is just ending: %+v", p)
	}
	if !p.parseStatm([]byte("100 20 8 1 0 4 0\n")) || p.memory != int64(12*os.Getpagesize()) {
		t.Errorf("statm: %+v", p)
	}
	for text, want := range map[string]uint64{"\nMax file locks            1099511627777        9       locks\n": 1099511627777, "\nMax file locks   unlimited unlimited locks\n": 0} {
		if got, ok := parseMark([]byte(text)); !ok || got != want {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
}

func TestFamily(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		all := make([]process, n)
		for i := range all {
			// Any order, and parents that are not there.
			all[i] = process{pid: 10 + i, parent: rapid.IntRange(1, 10+n).Draw(t, "parent"),
				mark: rapid.Uint64Range(0, 2).Draw(t, "mark")}
		}
		got := map[int]bool{}
		for _, p := range family(all, func(p process) bool { return p.mark == 1 }) {
			if got[p.pid] {
				t.Fatalf("%d twice", p.pid)
			}
			got[p.pid] = true
		}
		for _, p := range all {
			if want := p.mark == 1 || got[p.parent]; got[p.pid] != want {
				t.Fatalf("%+v: in the family: %v", p, got[p.pid])
			}
		}
	})
}

func TestDiskCountsWhatIsOccupied(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(path string, n int) {
		if err := os.WriteFile(path, make([]byte, n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "far"), 1<<20)
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "a/b/empty"), 0)
	for _, link := range [][2]string{{outside, "link"}, {"/", "root"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	mounts := []sandbox.Mount{{Host: dir, Path: sandbox.Workspace}, {Host: outside, Path: "/mnt/ro", ReadOnly: true}}
	all := func(*contents) bool { return true }
	if got := occupied(mounts, all); got.bytes != 5*inodeCost || got.partial {
		t.Errorf("two folders, an empty file, two links: %+v", got)
	}
	write(filepath.Join(dir, "a/large"), 1<<20)
	if err := os.Link(filepath.Join(dir, "a/large"), filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	if got := occupied(mounts, all).bytes; got < 5*inodeCost+1<<20 || got > 5*inodeCost+1<<20+64<<10 {
		t.Errorf("with a file of two names: %d", got)
	}
}

func TestOwnership(t *testing.T) {
	machinetest.NeedRoot(t, "give files to another user")
	root := t.TempDir()
	for _, dir := range []string{"ws/sub", "shared", "rootish", "ro", "outside"} {
		os.MkdirAll(filepath.Join(root, dir), 0o755)
	}
	for _, f := range []string{"ws/a", "ws/sub/b", "ws/alice", "shared/a", "rootish/a", "ro/a", "outside/a"} {
		os.WriteFile(filepath.Join(root, f), nil, 0o644)
	}
	os.Symlink(filepath.Join(root, "outside"), filepath.Join(root, "ws/link"))
	os.Symlink(filepath.Join(root, "outside/a"), filepath.Join(root, "ws/file-link"))
	for _, f := range []string{"shared", "ws/alice"} {
		os.Chown(filepath.Join(root, f), 777, 777)
	}
	who := identity{uid: 200001, gid: 200001, drop: true}
	held, err := who.own([]sandbox.Mount{
		{Host: filepath.Join(root, "ws"), Path: sandbox.Workspace},
		{Host: filepath.Join(root, "shared"), Path: "/mnt/shared"}, {Host: filepath.Join(root, "rootish"),
			Path: "/mnt/rootish"}, {Host: filepath.Join(root, "ro"), Path: "/mnt/ro", ReadOnly: true},
	})
	if err != nil || held.bytes != 6*inodeCost || !held.partial {
		t.Fatalf("%+v, %v", held, err)
	}
	for name, want := range map[string]uint32{
		"ws": 200001, "ws/a": 200001, "ws/sub": 200001, "ws/sub/b": 200001, "ws/link": 200001, "ws/alice": 777,
		"shared": 777, "shared/a": 0, "rootish": 0, "rootish/a": 0, "ro": 0, "ro/a": 0, "outside": 0, "outside/a": 0,
	} {
		fi, err := os.Lstat(filepath.Join(root, name))
		if err != nil || fi.Sys().(*syscall.Stat_t).Uid != want {
			t.Errorf("%s: %+v, %v, want %d", name, fi.Sys(), err, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	c := Config{}.orDefault()
	a, err := c.identity("thread-1")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := c.identity("thread-1")
	other, _ := c.identity("thread-2")
	if a != again || a.uid == 0 || a.gid == 0 {
		t.Errorf("got %+v, then %+v", a, again)
	}
	if root := os.Geteuid() == 0; root != a.drop ||
		root && (a == other || (a.uid < c.FirstUID || a.uid >= c.FirstUID+c.UIDs)) {
		t.Errorf("got %+v and %+v", a, other)
	}
}

// The kernel of the machine decides which hierarchy there is; the other is tried on files that look like it.
func TestUnifiedHierarchy(t *testing.T) {
	root := t.TempDir()
	base := filepath.Join(root, "sys/fs/cgroup/svc")
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	h := host{root: root, selfCgroup: []byte("0::/svc/pudu-server\n"),
		mounts: []byte("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n")}
	if g := findGroups(h); g.v2 != "" || len(g.v1) != 0 {
		t.Errorf("without controllers: %+v", g)
	}
	for _, f := range []string{"cgroup.controllers", "cgroup.subtree_control"} {
		if err := os.WriteFile(filepath.Join(base, f), []byte("cpu io memory pids\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := findGroups(h)
	if g.v2 != base {
		t.Fatalf("got %+v, want %s", g, base)
	}
	grp, err := g.create("x", sandbox.Limits{Processes: 10, Memory: 1 << 20, CPUs: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"pids.max": "74", "memory.max": "1048576", "memory.swap.max": "0", "cpu.max": "150000 100000",
		"memory.oom.group": "", // the kernel would kill the server with a sandbox that is just starting
	} {
		if got, _ := os.ReadFile(filepath.Join(base, "x", file)); string(got) != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	attr := &syscall.SysProcAttr{}
	dir, err := grp.join(attr)
	if err != nil || !attr.UseCgroupFD {
		t.Fatalf("%+v, %v", attr, err)
	}
	dir.Close()
}

// TestCatchUp: all that lies in the FIFO when the shell ends is delivered, although somebody may go on writing.
func TestCatchUp(t *testing.T) {
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "fifo")
	s, err := openStream(path, identity{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	s.hold.WriteString("the last words")
	s.r.SetReadDeadline(time.Now()) // as catchUp does, but before the reader has read anything
	go s.pump()
	s.catchUp(10 * time.Second)
	if out.String() != "the last words" {
		t.Errorf("got %q", out.String())
	}
	s.release()
	s.finish(10 * time.Second)
	select {
	case <-s.done:
	default:
		t.Error("it does not end with its last writer")
	}
}

// The owner of a thread's files is asked for by each run.
func TestOwnerAsksNobody(t *testing.T) {
	p := New(Config{})
	if n := testing.AllocsPerRun(100, func() { p.Owner("thread-1") }); n > 2 {
		t.Errorf("the owner of a thread's files costs %v allocations: it is a matter of the id alone", n)
	}
}

// TestSecretsStandInNoCommandLine: the shell itself exports them.
func TestSecretsStandInNoCommandLine(t *testing.T) {
	r := request{cmd: sandbox.Command{Script: "true", Env: []string{"A=b"}, Secrets: []string{"S=it's hush"}}}
	if args, text := r.argv(), r.text(); strings.Contains(args, "hush") ||
		!strings.Contains(text, "\nexport S='it'\\''s hush'\nexec ") {
		t.Errorf("the arguments are %s, the file is %s", args, text)
	}
}
