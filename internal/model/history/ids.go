package history

import "strconv"

// ids gives calls the ids that they are sent with.
type ids struct {
	rules *Rules
	seen  map[string]bool
	// how many ids were made of a text, so that one that stands in each answer is not tried from the start
	tries map[string]int
}

func newIDs(r *Rules) ids { return ids{rules: r, seen: map[string]bool{}, tries: map[string]int{}} }

// mostTries bounds the search for an id that nobody has, should a shape allow hardly any.
const mostTries = 100

// begin starts an answer.
func (s *ids) begin() {
	if !s.rules.UniqueIDs {
		clear(s.seen)
		clear(s.tries)
	}
}

// give returns the id for call number n of an answer: its own if that fits and nobody before has it, else one that is
// made of it, or of the answer's id, always in the same way.
func (s *ids) give(id, answer string, n int) string {
	source, out := id, id
	switch {
	case blank(id):
		source = answer + "\x00" + strconv.Itoa(n)
		out = s.rules.IDs.ID(source, 0)
	case !s.rules.IDs.fits(id):
		out = s.rules.IDs.ID(source, 0)
	}
	for n := 0; s.seen[out] && n < mostTries; n++ {
		s.tries[source]++
		out = s.rules.IDs.ID(source, s.tries[source])
	}
	s.seen[out] = true
	return out
}
