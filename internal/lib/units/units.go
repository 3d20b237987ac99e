// Package units writes measured numbers down for people, with about three digits and a fitting unit. The benchmarks
// print with it.
package units

import "fmt"

// Short is a bare number.
func Short(v float64) string {
	switch {
	case v >= 100 || v == float64(int(v)):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Times is a ratio.
func Times(v float64) string { return Short(v) + "x" }

// Seconds is a time in ns, µs, ms or s.
func Seconds(v float64) string {
	switch {
	case v < 1e-6:
		return Short(v*1e9) + " ns"
	case v < 1e-3:
		return Short(v*1e6) + " µs"
	case v < 1:
		return Short(v*1e3) + " ms"
	}
	return Short(v) + " s"
}

// Bytes is a size in B, KiB or MiB.
func Bytes(v float64) string {
	switch {
	case v < 1<<10:
		return Short(v) + " B"
	case v < 1<<20:
		return Short(v/(1<<10)) + " KiB"
	}
	return Short(v/(1<<20)) + " MiB"
}
