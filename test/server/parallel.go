package server

import (
	"flag"
	"strconv"
)

// sideBySide is how many tests run at once, on however few processors: they wait for leases, limits and streams most of
// their time.
const sideBySide = 6

// SideBySide has the tests of a package that start servers run side by side. It is for a TestMain, behind flag.Parse.
func SideBySide() {
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err != nil || n < sideBySide {
		_ = flag.Set("test.parallel", strconv.Itoa(sideBySide)) // it is there, and a number
	}
}
