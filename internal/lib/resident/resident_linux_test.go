package resident

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestGiveBack: the program goes on with less of its file in memory.
func TestGiveBack(t *testing.T) {
	before := held(t)
	if err := GiveBack(); err != nil {
		t.Fatal(err)
	}
	if after := held(t); after == 0 || after >= before {
		t.Errorf("%d KiB of the program are in memory, %d before", after, before)
	}
}

var mapping = regexp.MustCompile(`^[0-9a-f]+-[0-9a-f]+ `)

// held is how much of the program's file is in memory, in KiB.
func held(t *testing.T) (sum int) {
	t.Helper()
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int
		switch l := lines.Text(); {
		case mapping.MatchString(l):
			ours = strings.HasSuffix(l, " "+file)
		case ours && strings.HasPrefix(l, "Rss:"):
			if _, err := fmt.Sscanf(l, "Rss: %d kB", &kib); err != nil {
				t.Fatal(err)
			}
			sum += kib
		}
	}
	return sum
}
