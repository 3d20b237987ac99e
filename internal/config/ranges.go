package config

import (
	"strconv"
	"strings"
)

// A range is written as in mathematics: "[1,20]", "(0,1]", "[0,)". A round bracket leaves the end itself out, and an
// end that is not given is infinite.

func splitRange(r string) (lo, hi string, openLo, openHi bool) {
	lo, hi, _ = strings.Cut(r[1:len(r)-1], ",")
	return lo, hi, r[0] == '(', r[len(r)-1] == ')'
}

func within(r string, f float64) bool {
	lo, hi, openLo, openHi := splitRange(r)
	if l, err := strconv.ParseFloat(lo, 64); err == nil && (f < l || openLo && f == l) {
		return false
	}
	if h, err := strconv.ParseFloat(hi, 64); err == nil && (f > h || openHi && f == h) {
		return false
	}
	return true
}

func describeRange(r string) string {
	lo, hi, openLo, openHi := splitRange(r)
	low, high := lo+" or more", "at most "+hi
	if openLo {
		low = "above " + lo
	}
	if openHi {
		high = "below " + hi
	}
	switch {
	case hi == "":
		return low
	case lo == "":
		return high
	case !openLo && !openHi:
		return "from " + lo + " to " + hi
	}
	return low + " and " + high
}
