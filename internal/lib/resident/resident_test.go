package resident

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `00400000-017af000 r-xp 00000000 fe:00 10019985                           /usr/bin/pudu
Size:              20156 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me dw sd
017af000-031c2000 r--p 013af000 fe:00 10019985                           /usr/bin/pudu
Anonymous:             8 kB
031c2000-03293000 rw-p 02dc2000 fe:00 10019985                           /usr/bin/pudu
Anonymous:             0 kB
03300000-03400000 r--p 02dc2000 fe:00 10019985                           /usr/bin/pudu
Anonymous:             0 kB
03500000-03600000 r--p 00000000 fe:00 1                                  /usr/lib/libc.so
Anonymous:             0 kB
b20fa800000-b20ff400000 rw-p 00000000 00:00 0
Anonymous:          6008 kB
`

// TestClean: what was written, may be written, or is of another file stays.
func TestClean(t *testing.T) {
	got, err := clean(strings.NewReader(sample), "/usr/bin/pudu")
	if err != nil {
		t.Fatal(err)
	}
	want := []area{{0x400000, 0x17af000}, {0x3300000, 0x3400000}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(area{})); d != "" {
		t.Error(d)
	}
}

func FuzzClean(f *testing.F) {
	f.Add(sample)
	f.Add("1-2 r")
	f.Add("Anonymous: 0 kB")
	f.Fuzz(func(t *testing.T, s string) {
		areas, _ := clean(strings.NewReader(s), "/usr/bin/pudu")
		if len(areas) > strings.Count(s, "Anonymous:") {
			t.Errorf("%d areas", len(areas))
		}
	})
}
