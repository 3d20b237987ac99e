//go:build linux

package bwrap

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// TestNamelessFilesAreFound: wherever code inside keeps a file that it has deleted.
func TestNamelessFilesAreFound(t *testing.T) {
	const size = 6 << 20
	for _, tt := range []struct {
		name, keep string
		blind      bool
	}{
		{"open", "pass", false},
		{"mapped", "m = mmap.mmap(f, 6 << 20); os.close(f)", false},
		{"in a child", "\nif os.fork(): os.close(f)", false},
		{"without a first thread", "firstEnds(lambda: (open('done', 'w').close(), time.sleep(300)))", false},
		{"mapped without a first thread", "m = mmap.mmap(f, 6 << 20); os.close(f); " +
			"firstEnds(lambda: (open('done', 'w').close(), time.sleep(300)))", false},
		{"in a socket", "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [f]); os.close(f)", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := openBox(t, New(Config{}), sandbox.Limits{},
				sandbox.Mount{Host: fastFolder(t), Path: sandbox.Workspace})
			run(t, b, "("+inPython(`
f = os.open("f", os.O_RDWR | os.O_CREAT)
os.unlink("f")
w(f, 6)
`+tt.keep+`
open("done", "w").close()
time.sleep(300)`)+"\n) >/dev/null 2>&1 & until [ -e done ]; do sleep 0.01; done")
			kept := b.view.keptBy(b.view.processes())
			bytes, guess := kept.on(devices(b.spec.Mounts))
			if kept.blind != tt.blind {
				t.Errorf("blind: %v", kept.blind)
			}
			if got := bytes + guess; !tt.blind && got != size {
				t.Errorf("found %d bytes, and maybe %d", bytes, guess)
			}
		})
	}
}

func TestParseMapping(t *testing.T) {
	const line = "7f0000000000-7f0000200000 rw-s 00001000 08:11 4711                       /a b (deleted)"
	want := mapping{at: "7f0000000000-7f0000200000", file: inode{unix.Mkdev(8, 17), 4711}, end: 0x201000}
	if got, ok := parseMapping(line); !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
	if _, ok := parseMapping(strings.TrimSuffix(line, " (deleted)")); ok {
		t.Error("the file is still there")
	}
}

func FuzzParseMapping(f *testing.F) {
	f.Add("7f0000000000-7f0000200000 rw-s 00001000 08:11 4711                       /a b (deleted)")
	f.Add("1-0 r 0 0:0 0 (deleted)")
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := parseMapping(line); ok && (m.end < 0 || m.at == "" || strings.ContainsAny(m.at, "/ ")) {
			t.Errorf("%+v", m)
		}
	})
}

func TestEstimate(t *testing.T) {
	for _, tt := range []struct {
		exact, guess, most int64
		blind              bool
		want               int64
	}{
		{10, 0, 100, false, 10}, {10, 5, 100, false, 15}, {10, 5, 12, false, 12}, {10, 5, 3, false, 10},
		{10, 0, 100, true, 100}, {10, 0, 3, true, 10},
	} {
		if got := estimate(tt.exact, tt.guess, tt.most, tt.blind); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}
