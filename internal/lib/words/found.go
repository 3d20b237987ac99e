package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks bounds the places that are remembered of a text.
const maxMarks = 1000

// Found is what a text has of a query.
type Found struct {
	// Phrases says that all quotations are there, Together that all terms follow one another as they were typed.
	Phrases, Together bool
	// Terms counts those of the query that are there, Exact those of them that are there as a whole, Times all
	// places.
	Terms, Exact, Times int

	marks []mark
}

// mark is a place of a term.
type mark struct{ start, end, want int }

// Look looks for the terms of a query in a text.
func (q *Query) Look(text string) (f Found) {
	whole, begun := make([]bool, len(q.All)), make([]bool, len(q.All))
	rows := append([][]string{q.row}, q.phrases...)
	followed := make([]*follower, len(rows))
	for i, row := range rows {
		followed[i] = &follower{row: row, prefix: i == 0 && len(q.All) > 0 && q.All[len(q.All)-1].Prefix}
	}
	for t := range Terms(text) {
		if at, exact := q.wants(t.Text); at >= 0 {
			f.Times++
			whole[at], begun[at] = whole[at] || exact, true
			if len(f.marks) < maxMarks {
				f.marks = append(f.marks, mark{t.Start, q.All[at].end(text, t), at})
			}
		}
		for _, r := range followed {
			if !t.Beside {
				r.next(t.Text)
			}
		}
	}
	f.Together, f.Phrases = followed[0].done, true
	for _, r := range followed[1:] {
		f.Phrases = f.Phrases && r.done
	}
	f.Exact, f.Terms = count(whole), count(begun)
	slices.SortFunc(f.marks, func(a, b mark) int { return a.start - b.start })
	return f
}

// end is where the mark of a term ends: that of a pair found by its first character behind that one.
func (w Want) end(text string, t Term) int {
	r, n := utf8.DecodeRuneInString(w.Text)
	if n == len(w.Text) && isPaired(r) && strings.HasPrefix(text[t.Start:], w.Text) {
		return t.Start + n
	}
	return t.End
}

func count(list []bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// follower looks for terms that follow one another.
type follower struct {
	row    []string
	prefix bool  // the last need only be begun
	at     []int // how far each beginning has come, the furthest first
	done   bool
}

func (f *follower) next(term string) {
	if f.done || len(f.row) == 0 {
		return
	}
	keep := f.at[:0]
	for _, n := range f.at {
		if f.fits(n, term) {
			keep = append(keep, n+1)
		}
	}
	if f.fits(0, term) {
		keep = append(keep, 1)
	}
	f.at, f.done = keep, len(keep) > 0 && keep[0] == len(f.row)
}

// fits reports whether a term is the one at a place of the row.
func (f *follower) fits(n int, term string) bool {
	return term == f.row[n] || f.prefix && n == len(f.row)-1 && strings.HasPrefix(term, f.row[n])
}

// Part is a piece of an excerpt.
type Part struct {
	Text string
	// Marked says that it is what was looked for.
	Marked bool
}

// Excerpt is the piece of the text, of about size bytes, that has most of what was found, in one line. The parts
// joined are the excerpt.
func (f Found) Excerpt(text string, size int) []Part {
	from, to := f.window(text, size)
	var parts []Part
	add := func(s string, marked bool) {
		if s != "" {
			parts = append(parts, Part{s, marked})
		}
	}
	before := ""
	if from > 0 {
		before = "… "
	}
	at := from
	for _, m := range f.marks {
		if m.end <= at || m.start >= to {
			continue
		}
		m.start, m.end = max(m.start, at), min(m.end, to)
		add(before+oneLine(text[at:m.start]), false)
		before = ""
		if n := len(parts); n > 0 && parts[n-1].Marked && m.start == at {
			parts[n-1].Text += oneLine(text[m.start:m.end])
		} else {
			add(oneLine(text[m.start:m.end]), true)
		}
		at = m.end
	}
	after := ""
	if to < len(text) {
		after = " …"
	}
	add(before+oneLine(text[at:to])+after, false)
	return parts
}

// window is where the excerpt stands: it begins a little before the place from which on most terms come.
func (f Found) window(text string, size int) (from, to int) {
	best := 0
	for i, m := range f.marks {
		seen := make(map[int]bool)
		for _, n := range f.marks[i:min(len(f.marks), i+50)] {
			if n.end <= m.start+size*2/3 {
				seen[n.want] = true
			}
		}
		if len(seen) > best {
			best, from = len(seen), m.start
		}
		if best == f.Terms {
			break
		}
	}
	from = wordStart(text, max(0, from-size/4))
	if to = from + size; to >= len(text) {
		return from, len(text)
	}
	for !utf8.RuneStart(text[to]) {
		to--
	}
	if space := strings.LastIndexFunc(text[from:to], unicode.IsSpace); space > (to-from)*3/4 {
		to = from + space
	}
	return from, to
}

// wordStart is the beginning of the next word behind a place, if one is near.
func wordStart(text string, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	if at == 0 {
		return 0
	}
	near := text[at:min(len(text), at+24)]
	if space := strings.IndexFunc(near, unicode.IsSpace); space >= 0 {
		_, n := utf8.DecodeRuneInString(near[space:])
		return at + space + n
	}
	return at
}

// oneLine makes spaces of line breaks and what else cannot be seen.
func oneLine(s string) string {
	space := false
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			if space {
				return -1
			}
			space = true
			return ' '
		}
		space = false
		return r
	}, s)
}
