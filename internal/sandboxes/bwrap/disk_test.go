//go:build linux

package bwrap

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
)

// fastFolder makes a folder for a mount where writing is as fast as it can be: in memory, if there is such a place.
func fastFolder(t *testing.T) string {
	t.Helper()
	base := os.Getenv(fastEnv)
	if base == "" {
		base = "/dev/shm"
	}
	if unix.Access(base, unix.W_OK) != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "pudu-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	// What others write to the same file system counts, too, where a sandbox looks at that alone: root has one apart.
	if unix.Mount("pudu-test", dir, "tmpfs", 0, "mode=755") == nil {
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	}
	return dir
}

// inPython runs a program in which w(f, n) writes n MiB to a descriptor, and firstEnds(f) goes on with f in another
// thread, without the first.
func inPython(program string) string {
	return `exec python3 - <<'END'
import ctypes, mmap, os, socket, threading, time
def w(f, n):
    for _ in range(n): os.write(f, bytes(1 << 20))
def firstEnds(f):
    threading.Thread(target=lambda: (time.sleep(0.2), f())).start()
    ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)
` + program + "\nEND"
}

// growth is how a command may try to take more of the disk than there is for it. Each would take gigabytes.
var growth = []struct{ name, script string }{
	{"Writers", `for i in $(seq 16); do (while :; do cat /dev/zero >f$i; done) 2>/dev/null & done; wait`},
	{"SmallFiles",
		`for i in $(seq 8); do (for j in $(seq 10000); do head -c 900000 /dev/zero >f$i-$j || exit; done) & done; wait`},
	{"ClosedFolder",
		`mkdir closed; chmod 300 closed; for i in $(seq 16); do (while :; do cat /dev/zero >closed/f$i; done) 2>/dev/null & done; wait`},
	{"Folders", inPython(`
for i in range(10**7): os.mkdir(str(i))`)},
	{"SparseFiles", inPython(`
libc = ctypes.CDLL(None)
for i in range(100):
    f = os.open(str(i), os.O_RDWR | os.O_CREAT)
    os.ftruncate(f, 32 << 20)
    m = mmap.mmap(f, 32 << 20)
    libc.madvise(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), ctypes.c_size_t(32 << 20), 23)`)},
	{"DeletedFiles", inPython(`
kept = []
for i in range(1000):
    f = os.open("f", os.O_RDWR | os.O_CREAT)
    os.unlink("f")
    kept.append(f)
    w(f, 4)
time.sleep(60)`)},
	{"DeletedFilesInSockets", inPython(`
a, b = socket.socketpair()
for i in range(200):
    f = os.open("f", os.O_RDWR | os.O_CREAT)
    os.unlink("f")
    w(f, 8)
    socket.send_fds(a, [b"x"], [f])
    os.close(f)
time.sleep(60)`)},
}

// TestDiskHoldsAtAnySpeed: however fast a command grows, it is ended not far above the limit; then nothing grows any
// more, and what is there can be deleted.
func TestDiskHoldsAtAnySpeed(t *testing.T) {
	const limit, over = 64 << 20, 512 << 20
	for _, g := range growth {
		t.Run(g.name, func(t *testing.T) {
			dir := fastFolder(t)
			b := openBox(t, New(Config{}), sandbox.Limits{Disk: limit},
				sandbox.Mount{Host: dir, Path: sandbox.Workspace})
			most := peak(t, dir)
			res, out := try(t, b, g.script)
			if got := most(); got > limit+over {
				t.Errorf("%d MiB were taken", got>>20)
			}
			if res.Limit != "disk" || res.Exit == 0 {
				t.Errorf("%+v\n%s", res, out)
			}
			if strings.HasPrefix(g.name, "Deleted") {
				return // nothing is left
			}
			if res, _ := try(t, b, "echo more >more"); res.Limit != "disk" || res.Exit == 0 {
				t.Errorf("it still grows: %+v", res)
			}
			if res, out := try(t, b, "chmod -R u+rwx . && find . -mindepth 1 -delete"); res.Limit != "" ||
				res.Exit != 0 {
				t.Errorf("deleting: %+v\n%s", res, out)
			}
			run(t, b, "head -c 20000000 /dev/zero >again")
		})
	}
}

// TestWhatOthersFreeHidesNothingOnTheDisk: the file system does not grow while one writes what others delete.
func TestWhatOthersFreeHidesNothingOnTheDisk(t *testing.T) {
	const limit, most = 32, 160
	b := openBox(t, New(Config{}), sandbox.Limits{Disk: limit << 20},
		sandbox.Mount{Host: fastFolder(t), Path: sandbox.Workspace})
	ended := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
			b.disk.mu.Lock()
			b.disk.filled += 1 << 30 // it was there at the last look, and now it is gone
			b.disk.mu.Unlock()
		}
	})
	res, out := try(t, b, inPython(`
for i in range(200):
    w(os.open(str(i), os.O_RDWR | os.O_CREAT), 1)
    time.sleep(0.02)`))
	close(ended)
	others.Wait()
	if written := len(strings.Fields(run(t, b, "ls"))); res.Limit != "disk" || written > most {
		t.Errorf("%d MiB were written: %+v\n%s", written, res, out)
	}
}

// try runs what may fail.
func try(t *testing.T, b sandbox.Sandbox, script string) (sandbox.Result, string) {
	t.Helper()
	var out bytes.Buffer
	res, err := b.Run(t.Context(), sandbox.Command{Script: script, Stdout: &out, Stderr: &out, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String()
}

// peak watches the file system of a folder until the function that it returns is called, which says by how much it has
// grown at most.
func peak(t *testing.T, dir string) func() int64 {
	t.Helper()
	used := func() int64 {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			t.Error(err)
		}
		return int64(st.Blocks-st.Bfree) * st.Frsize
	}
	first, most := used(), int64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			most = max(most, used()-first)
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return most
	}
}

// TestCommandThatEndsAboveTheDiskLimitSaysSo: it is over before anybody can stop it.
func TestCommandThatEndsAboveTheDiskLimitSaysSo(t *testing.T) {
	b := openBox(t, New(Config{}), sandbox.Limits{Disk: 64 << 20},
		sandbox.Mount{Host: fastFolder(t), Path: sandbox.Workspace})
	if res, out := try(t, b, "head -c 66900000 /dev/zero >most"); res.Exit != 0 || res.Limit != "" {
		t.Fatalf("below the limit: %+v\n%s", res, out)
	}
	if res, out := try(t, b, "head -c 500000 /dev/zero >last"); res.Limit != "disk" {
		t.Errorf("above it: %+v\n%s", res, out)
	}
	if res, _ := try(t, b, "rm -f last"); res.Exit != 0 || res.Limit != "" {
		t.Errorf("below it again: %+v", res)
	}
}

// TestDiskIsKnownFromTheStart: what an earlier sandbox left counts for the first command.
func TestDiskIsKnownFromTheStart(t *testing.T) {
	mount := sandbox.Mount{Host: fastFolder(t), Path: sandbox.Workspace}
	if res, _ := try(t, openBox(t, New(Config{}), sandbox.Limits{}, mount),
		"head -c 50000000 /dev/zero >old"); res.Exit != 0 {
		t.Fatalf("%+v", res)
	}
	b := openBox(t, New(Config{}), sandbox.Limits{Disk: 32 << 20}, mount)
	if res, _ := try(t, b, "echo more >more"); res.Exit == 0 || res.Limit != "disk" {
		t.Errorf("%+v", res)
	}
}

// TestLargeFolderOfAPerson: it may be larger than the limit, and only what grows there by much is ended.
func TestLargeFolderOfAPerson(t *testing.T) {
	project := sandbox.Mount{Host: sandboxtest.Folder(t), Path: "/mnt/project"}
	run(t, openBox(t, New(Config{}), sandbox.Limits{}, project), "head -c 24000000 /dev/zero >/mnt/project/old")
	b := openBox(t, New(Config{}), sandbox.Limits{Disk: 16 << 20}, project)
	for range 3 {
		if res, out := try(t, b, "echo more >>/mnt/project/more; sleep 0.3"); res.Exit != 0 || res.Limit != "" {
			t.Errorf("a small change: %+v\n%s", res, out)
		}
	}
	if res, out := try(t, b,
		"for i in $(seq 2000); do head -c 900000 /dev/zero >/mnt/project/f$i; sleep 0.002; done"); res.Limit != "disk" || res.Exit == 0 {
		t.Errorf("a large one: %+v\n%s", res, out)
	}
}

// TestCountsThatEnd: what was counted ends a sandbox only if it grew.
func TestCountsThatEnd(t *testing.T) {
	const limit, step = 4 << 30, 256 << 20
	for _, tt := range []struct {
		name string
		disk *disk
		held int64
		want string
	}{
		{"below", &disk{limit: limit, known: true, used: 1}, limit, ""},
		{"above", &disk{limit: limit, known: true, used: limit}, limit + 1, "disk"},
		{"above, and less than before", &disk{limit: limit, known: true, used: limit + 2}, limit + 1, ""},
		{"a person's, first", &disk{limit: limit, foreign: true, used: limit}, limit + 1, ""},
		{"a person's, a little more", &disk{limit: limit, foreign: true, known: true, used: limit + 1}, limit + step,
			""},
		{"a person's, much more", &disk{limit: limit, foreign: true, known: true, used: limit + 1}, limit + step + 2,
			"disk"},
		{"a person's, too much to count", &disk{limit: limit, foreign: true, known: true, used: 2 * limit}, 2 * limit,
			"disk"},
		{"scarce, since now", &disk{limit: limit, known: true, scarce: true}, 1, ""},
		{"scarce", &disk{limit: limit, known: true, scarce: true, before: true}, 1, "free disk"},
		{"scarce, and less than before", &disk{limit: limit, known: true, scarce: true, before: true, used: 2}, 1, ""},
	} {
		if got := tt.disk.count(&contents{bytes: tt.held}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOthersMayWriteDuringACount: what grows meanwhile is the sandbox's only where it is much, also with a small limit.
func TestOthersMayWriteDuringACount(t *testing.T) {
	for _, tt := range []struct {
		limit, grown int64
		want         bool
	}{
		{64 << 20, 127 << 20, false},
		{64 << 20, 128 << 20, true},
		{4 << 30, 255 << 20, false},
		{4 << 30, 256 << 20, true},
	} {
		if d := (&disk{limit: tt.limit, grown: tt.grown}); d.outgrows() != tt.want {
			t.Errorf("a limit of %d MiB, grown by %d MiB: %v", tt.limit>>20, tt.grown>>20, !tt.want)
		}
	}
}

// TestDiskReserve: where a file system is nearly full, growing is over for all.
func TestDiskReserve(t *testing.T) {
	machinetest.NeedRoot(t, "make a small file system")
	dir := fastFolder(t)
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64m,mode=755"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	b := openBox(t, New(Config{}), sandbox.Limits{}, sandbox.Mount{Host: dir, Path: sandbox.Workspace})
	run(t, b, "head -c 60000000 /dev/zero >most")
	run(t, b, "head -c 4500000 /dev/zero >more") // less than a twentieth is left
	res, out := try(t, b, inPython(`
f = os.open("grows", os.O_RDWR | os.O_CREAT)
while True:
    os.write(f, bytes(4096))
    time.sleep(0.001)`))
	if res.Limit != "free disk" || res.Exit != exitKilled {
		t.Errorf("%+v\n%s", res, out)
	}
	if res, out := try(t, b, "sleep 0.3; rm most; sleep 0.3"); res.Limit != "" || res.Exit != 0 {
		t.Errorf("deleting: %+v\n%s", res, out)
	}
	run(t, b, "head -c 20000000 /dev/zero >again")
}

// TestMeasuringLetsGoOnWhatRan: what was stopped to be measured goes on, what had stopped by itself does not.
func TestMeasuringLetsGoOnWhatRan(t *testing.T) {
	b := openBox(t, New(Config{}), sandbox.Limits{})
	run(t, b, `sleep 300 >/dev/null 2>&1 & kill -STOP $!
		(while :; do echo x >>ticks; sleep 0.01; done) >/dev/null 2>&1 & until [ -s ticks ]; do sleep 0.01; done`)
	until(t, "one has stopped", func() bool { return stoppedProcesses(b) == 1 })
	for range 20 {
		b.disk.mu.Lock()
		b.measure()
		b.disk.mu.Unlock()
	}
	if got := stoppedProcesses(b); got != 1 {
		t.Errorf("%d processes have stopped", got)
	}
	run(t, b, `before=$(wc -l <ticks); until [ $(wc -l <ticks) -gt $before ]; do sleep 0.01; done`)
}

func stoppedProcesses(b *box) (n int) {
	for _, p := range b.view.processes() {
		if p.stopped {
			n++
		}
	}
	return n
}

// TestAllowance: how much the file systems may grow until a sandbox is counted again.
func TestAllowance(t *testing.T) {
	const limit, step = 4 << 30, 256 << 20
	for _, tt := range []struct {
		name string
		disk *disk
		want int64
	}{
		{"nearly empty", &disk{limit: limit, used: 1 << 20}, limit - 1<<20},
		{"nearly full", &disk{limit: limit, used: limit - 1}, step},
		{"full", &disk{limit: limit, used: limit + 1}, diskStepFull},
		{"a person's large folder", &disk{limit: limit, used: 9 << 30, foreign: true}, step},
		{"a full file system", &disk{limit: limit, scarce: true}, diskStepFull},
		{"a small limit", &disk{limit: 32 << 20, used: 32 << 20}, 2 << 20},
	} {
		if got := tt.disk.allowance(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestFileSystemsAreAskedOnce: several folders on one file system, and files of one's own count.
func TestFileSystemsAreAskedOnce(t *testing.T) {
	dir := fastFolder(t)
	mounts := []sandbox.Mount{{Host: dir, Path: sandbox.Workspace}, {Host: dir, Path: sandbox.Outputs},
		{Host: "/proc", Path: "/mnt/ro", ReadOnly: true}}
	one, _ := fileSystems(mounts[:1])
	all, scarce := fileSystems(mounts)
	if all > one+one/2 || one == 0 || scarce {
		t.Errorf("one folder %d, two %d, scarce %v", one, all, scarce)
	}
}
