//go:build linux

package bwrap

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// eat is a program that takes memory by the megabyte and says after each how much it has. take(i) takes the ith. Near the
// limit of the tests, 256 MiB, it goes slowly: on a machine that computes much else a look at it comes late.
func eat(take string) string {
	return inPython("MB = 1 << 20\nwrap = lambda f: f()\n" + take + `
def eat():
    for i in range(2000):
        take(i)
        print(i + 1, flush=True)
        if i % 2: time.sleep(0.005 if i < 236 else 0.2)
    time.sleep(60)
wrap(eat)`)
}

// hiddenMemoryBombs take memory that no process seems to have for itself.
var hiddenMemoryBombs = []struct{ name, script string }{
	{"OwnWithoutFirstThread", eat(`
own, wrap = [], firstEnds
def take(i): own.append(b"x" * MB)`)},
	{"File", eat(`
f = os.memfd_create("x")
def take(i): os.write(f, bytes(MB))`)},
	{"MappedFile", eat(`
def take(i):
    global last
    f = os.memfd_create("x")
    os.ftruncate(f, MB)
    m = mmap.mmap(f, MB)
    m.write(bytes(MB))`)},
	{"FilesInSockets", eat(`
a, b = socket.socketpair()
f = os.memfd_create("x")
def take(i):
    global f
    os.write(f, bytes(MB))
    if i % 20 == 19:
        socket.send_fds(a, [b"x"], [f])
        os.close(f)
        f = os.memfd_create("x")`)},
	{"SharedMapping", eat(`
m = mmap.mmap(-1, 2000 * MB)
def take(i): m.write(bytes(MB))`)},
	{"SharedMappingWrittenByOthers", eat(`
m = mmap.mmap(-1, 2000 * MB)
def take(i):
    if os.fork() == 0:
        m[i * MB:(i + 1) * MB] = bytes(MB)
        os._exit(0)
    os.wait()`)},
	{"Everything", eat(`
m, f, own = mmap.mmap(-1, 2000 * MB), os.memfd_create("x"), []
s = open("/dev/shm/x", "wb")
def take(i):
    if i % 4 == 0: m.write(bytes(MB))
    elif i % 4 == 1: os.write(f, bytes(MB))
    elif i % 4 == 2 and i < 200: os.write(s.fileno(), bytes(MB))
    else: own.append(b"x" * MB)`)},
}

// TestHiddenMemoryWithoutCgroup: it counts as the memory that a process has for itself. Where the kernel does not tell
// whose it is, what others take meanwhile counts too, so that the end may come earlier.
func TestHiddenMemoryWithoutCgroup(t *testing.T) {
	const limit = 256
	for _, bomb := range hiddenMemoryBombs {
		t.Run(bomb.name, func(t *testing.T) {
			b := openBox(t, New(Config{NoCgroup: true}), sandbox.Limits{Memory: limit << 20})
			res, out := try(t, b, bomb.script)
			if res.Limit != "memory" || res.Exit != exitKilled {
				t.Errorf("%+v\n%.500s", res, out)
			}
			lines := strings.Fields(out)
			if taken, err := strconv.Atoi(lines[len(lines)-1]); err != nil || taken > limit+limit/10 {
				t.Errorf("it took %d MiB, %v", taken, err)
			}
			run(t, b, "true")
		})
	}
}

func TestWhatIsSharedCountsOnce(t *testing.T) {
	b := openBox(t, New(Config{NoCgroup: true}), sandbox.Limits{Memory: 256 << 20})
	res, out := try(t, b, inPython(`
m = mmap.mmap(-1, 100 << 20)
children = []
for i in range(5):
    child = os.fork()
    if child == 0:
        for j in range(100): m[j << 20:(j + 1) << 20] = bytes(1 << 20)
        time.sleep(1)
        os._exit(0)
    children.append(child)
for child in children: assert os.waitpid(child, 0)[1] == 0
print("fine")`))
	if out != "fine\n" || res.Exit != 0 || res.Limit != "" {
		t.Errorf("%+v\n%s", res, out)
	}
}

// TestSegmentsAreSmall: those that no process has attached cannot be counted.
func TestSegmentsAreSmall(t *testing.T) {
	for size, want := range map[uint64]uint32{64 << 10: allow, 64<<10 + 1: einval, 1 << 32: einval, 1<<32 + 1: einval} {
		if got := decide(t, auditArch, unix.SYS_SHMGET, 0, size); got != want {
			t.Errorf("%d bytes: %#x", size, got)
		}
	}
}

// TestWhatOthersFreeHidesNoMemory: what the machine has does not grow while one takes what another frees.
func TestWhatOthersFreeHidesNoMemory(t *testing.T) {
	b := openBox(t, New(Config{NoCgroup: true}), sandbox.Limits{})
	run(t, b, `python3 -c 'import os, time
f = os.memfd_create("x")
for i in range(100): os.write(f, bytes(1 << 20))
open("/tmp/held", "w").close()
time.sleep(60)' >/dev/null 2>&1 &
until [ -e /tmp/held ]; do sleep 0.1; done`)
	m := newMemory(64<<20, b.view)
	m.filled += 1 << 40 // so that some was freed since
	if _, passed := m.passed(b.view.processes()); !passed || m.shared < 100<<20 {
		t.Errorf("%d bytes were found", m.shared)
	}
	m.shared, m.filled, m.count = 0, m.filled+1<<40, time.Now().Add(time.Hour)
	if _, passed := m.passed(b.view.processes()); passed {
		t.Error("it was counted before that was due again")
	}
	m.count = time.Now()
	if _, passed := m.passed(b.view.processes()); !passed {
		t.Error("it was not counted when that was due")
	}
}
