package prompts

import (
	"bytes"
	"slices"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
)

// Turn is what the requests of one turn come to, in bytes. Of each request the part counts that the next one can begin
// with: all but the brackets that close it.
type Turn struct {
	Name     string
	Requests int
	Sent     int
	// Ideal is what the requests would have in common with the ones before them if each began with the whole of it,
	// Real what they have.
	Ideal, Real int
}

// Causes of a break. All but Undeclared are meant: what is saved, or what the user asked for, is worth it.
const (
	Compacted    = "compaction"
	ImagesGone   = "images dropped"
	ToolsChanged = "tools changed by the user"
	Undeclared   = "not declared"
)

// Break is a request that does not begin with the one before it.
type Break struct {
	// Call is its number in the conversation, Turn that of its turn, both from 1.
	Call, Turn int
	Cause      string
	// Lost is how much of the request before it is not used again, in bytes, from byte At on.
	Lost, At int
	// Was and Is are what stands there, in the request before and in this one.
	Was, Is string
}

// compare fills in what the requests say.
func (v *Conversation) compare(w wires.Wire, all []exchange, turns []turn) {
	v.exchanges = all
	for _, t := range turns {
		v.Turns = append(v.Turns, Turn{Name: t.name})
	}
	var last exchange
	for i, e := range all {
		was, now := w.Prefix(last.body), w.Prefix(e.body)
		same := common(was, now)
		t := &v.Turns[e.turn]
		t.Requests, t.Sent = t.Requests+1, t.Sent+len(now)
		t.Ideal, t.Real = t.Ideal+min(len(was), len(now)), t.Real+same
		if same < len(was) {
			chosen := turns[e.turn].plan != turns[last.turn].plan ||
				turns[e.turn].subagents != turns[last.turn].subagents
			v.Breaks = append(v.Breaks, Break{
				Call: i + 1, Turn: e.turn + 1, Cause: cause(last.facts, e.facts, chosen), Lost: len(was) - same,
				At: same, Was: excerpt(was, same), Is: excerpt(now, same),
			})
		}
		for _, n := range e.notes {
			if !slices.Contains(v.Notes, n) {
				v.Notes = append(v.Notes, n)
			}
		}
		last = e
	}
}

// cause says why a request does not begin with the one before it. chosen says that the user has chosen other tools.
func cause(was, is facts, chosen bool) string {
	switch {
	case chosen && !slices.Equal(was.tools, is.tools):
		return ToolsChanged
	case is.compactions > was.compactions:
		return Compacted
	case is.images < was.images:
		return ImagesGone
	}
	return Undeclared
}

// common is how many bytes a and b begin with in common.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// excerpt is what stands at a place, with a little before it.
func excerpt(b []byte, at int) string {
	return string(b[max(0, at-40):min(len(b), at+80)])
}

// Total is the sum of the turns, under a name.
func Total(name string, turns []Turn) Turn {
	sum := Turn{Name: name}
	for _, t := range turns {
		sum.Requests, sum.Sent = sum.Requests+t.Requests, sum.Sent+t.Sent
		sum.Ideal, sum.Real = sum.Ideal+t.Ideal, sum.Real+t.Real
	}
	return sum
}
