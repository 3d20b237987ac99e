// Package resident gives memory back that holds nothing but the program's own file: code and constants that only its
// start needed. What is needed again comes back from the system's cache of files, 64 KiB at a time.
package resident

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// area is a part of the address space.
type area struct{ from, to uintptr }

// clean finds the areas in which a file is mapped as it is on the disk: nothing can write there, and nothing has, as a
// debugger or the loader would. smaps is what /proc/PID/smaps says (proc(5)); lines that are none of it are left out.
func clean(smaps io.Reader, file string) (out []area, err error) {
	var a area
	ours := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		var next area
		var mode, size string
		l := lines.Text()
		if n, _ := fmt.Sscanf(l, "%x-%x %4s", &next.from, &next.to, &mode); n == 3 && len(mode) == 4 {
			a, ours = next, mode[1] == '-' && strings.HasSuffix(l, " "+file)
		} else if n, _ := fmt.Sscanf(l, "Anonymous: %s kB", &size); n == 1 && ours && size == "0" {
			out = append(out, a)
		}
	}
	return out, lines.Err()
}
