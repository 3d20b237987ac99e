package search

import (
	"math"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/words"
	"github.com/pudu-ai/pudu/message"
)

// ranking sorts what was found. It looks at the texts alone: how often a word is found elsewhere says nothing about
// these, and would tell of what others have.
type ranking struct {
	query *words.Query
	now   time.Time
	docs  []ranked
	seen  map[docKey]int // place in docs
}

type ranked struct {
	document

	found words.Found
	score float64
}

func newRanking(q *words.Query, now time.Time) *ranking {
	return &ranking{query: q, now: now, seen: make(map[docKey]int)}
}

// add takes what was found. Of the pieces of a message the best is kept.
func (l *ranking) add(d document) {
	r := ranked{document: d, found: l.query.Look(d.text)}
	if !r.found.Phrases {
		return
	}
	r.score = l.score(r)
	key := docKey{d.thread + "\x00" + d.form, d.ref, 0}
	if i, there := l.seen[key]; !there {
		l.seen[key] = len(l.docs)
		l.docs = append(l.docs, r)
	} else if r.score > l.docs[i].score {
		l.docs[i] = r
	}
}

// score weighs what kind of thing it is, how well it matches, and how old it is.
func (l *ranking) score(r ranked) float64 {
	score := map[string]float64{Title: 3, File: 1.5, Message: 1}[r.form]
	if r.role == string(message.Tool) {
		score = 0.5
	}
	if n := len(l.query.All); n > 0 {
		score += float64(r.found.Exact) / float64(n)
	}
	if r.found.Together && len(l.query.All) > 1 {
		score += 2
	}
	score += 0.2 * math.Log2(1+float64(min(r.found.Times, 31)))
	const month = 30 * 24 * time.Hour
	return score + 2*math.Exp2(-float64(max(0, l.now.Sub(r.at)))/float64(month))
}

// best is the list, the best first; of equals the newest.
func (l *ranking) best() []ranked {
	slices.SortStableFunc(l.docs, func(a, b ranked) int {
		if a.score != b.score {
			if a.score > b.score {
				return -1
			}
			return 1
		}
		return b.at.Compare(a.at)
	})
	return l.docs
}

func (r ranked) hit() Hit {
	return Hit{
		ThreadID: r.thread, Title: r.title, Form: r.form, Ref: r.ref, Role: r.role, At: r.at,
		Excerpt: r.found.Excerpt(r.text, excerptLen),
	}
}
