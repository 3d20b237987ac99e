package load

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// frameID is the id of a frame: "<attempt>-<n>", or "<attempt>-<n>.<k>" for one of several frames of an event that is not
// its last.
type frameID struct {
	attempt, n, k int64 // k is the largest number for an id without one
}

func parseFrameID(s string) (frameID, error) {
	attempt, rest, _ := strings.Cut(s, "-")
	n, k, part := strings.Cut(rest, ".")
	id, errs := frameID{k: math.MaxInt64}, [3]error{}
	id.attempt, errs[0] = parseNumber(attempt)
	id.n, errs[1] = parseNumber(n)
	if part {
		id.k, errs[2] = parseNumber(k)
	}
	if errs != [3]error{} {
		return frameID{}, fmt.Errorf("frame id %.60q is not of the form <attempt>-<n> or <attempt>-<n>.<k>", s)
	}
	return id, nil
}

func parseNumber(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return 0, strconv.ErrSyntax
	}
	return int64(n), nil
}

// compare orders ids.
func (id frameID) compare(o frameID) int {
	return cmp.Or(cmp.Compare(id.attempt, o.attempt), cmp.Compare(id.n, o.n), cmp.Compare(id.k, o.k))
}

// disorder counts the frames that a reader saw again, or after a later one.
func disorder(seen []frameID) (n int) {
	var newest frameID
	for _, id := range seen {
		if id.compare(newest) <= 0 {
			n++
			continue
		}
		newest = id
	}
	return n
}

// missing counts the frames that only one of two readers of a run saw: one that was there all the time, and one that
// read it after its end. What the first saw of a killed attempt after its last stored frame is no miss: it was withdrawn.
func missing(seen, late []frameID) (n int) {
	inSeen, inLate := setOf(seen), setOf(late)
	var last frameID
	stored := map[int64]frameID{} // the last one of each attempt
	for _, id := range late {
		if !inSeen[id] {
			n++
		}
		if id.compare(stored[id.attempt]) > 0 {
			stored[id.attempt] = id
		}
		if id.compare(last) > 0 {
			last = id
		}
	}
	for id := range inSeen {
		if !inLate[id] && (id.attempt >= last.attempt || id.compare(stored[id.attempt]) < 0) {
			n++
		}
	}
	return n
}

func setOf(ids []frameID) map[frameID]bool {
	set := make(map[frameID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
