package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/words"
)

const (
	// MaxFound bounds what a search shows; as many more are compared as maxCompared says, the newest.
	MaxFound    = 100
	maxCompared = 200
	// many rows of a term are not sorted: among so many the newest facts are found sooner.
	many = 2000
)

// Query is what somebody looks for.
type Query struct {
	// Words are as package words reads them. Without a word nothing is found.
	Words string
	// Status is that of the facts; empty is any. Category, Agent and Folder are theirs, unless nil or empty.
	Status, Category string
	Agent, Folder    *string
	Limit            int // 1 to [MaxFound]
}

// Hit is a fact that was found.
type Hit struct {
	Fact
	Excerpt []words.Part
	score   float64
}

// Search finds facts by their words, the best first.
func (m *Mine) Search(ctx context.Context, q Query) ([]Hit, error) {
	if err := database.CheckLimit(q.Limit, MaxFound); err != nil {
		return nil, fmt.Errorf("search facts: %w", err)
	}
	want := words.Parse(database.Plain(q.Words))
	if err := m.user.Check(); err != nil || len(want.All) == 0 {
		return []Hit{}, err
	}
	seqs, err := m.having(ctx, want, q.Status)
	var list []Fact
	if err == nil && len(seqs) > 0 {
		var ids []byte
		if ids, err = json.Marshal(seqs); err == nil {
			list, err = m.read(ctx, "numbered", string(ids))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("search facts: %w", err)
	}
	hits := []Hit{}
	for _, f := range list {
		if q.fits(&f) {
			if h, ok := look(want, f, m.all.cfg.Now()); ok {
				hits = append(hits, h)
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if a.score > b.score {
			return -1
		}
		return 1
	})
	return hits[:min(len(hits), q.Limit)], nil
}

// having are the newest facts that have the longest term of a query, and the next longest beside it: the rest is looked
// for in them.
func (m *Mine) having(ctx context.Context, want words.Query, status string) (seqs []int64, err error) {
	all := slices.Clone(want.All)
	slices.SortStableFunc(all, func(a, b words.Want) int {
		if whole(a) != whole(b) {
			return map[bool]int{true: -1, false: 1}[whole(a)]
		}
		return len(b.Text) - len(a.Text)
	})
	first, also := all[0], ""
	if len(all) > 1 && whole(all[1]) {
		also = all[1].Text
	}
	scan := func(r database.Row) (bool, error) {
		seqs = append(seqs, 0)
		return true, r.Scan(&seqs[len(seqs)-1])
	}
	if whole(first) {
		return seqs, m.db.Read(ctx, "find_word", scan, status, first.Text, also, maxCompared)
	}
	last, rows, find := first.Text+"\U0010FFFF", 0, "find"
	count := func(r database.Row) (bool, error) { return false, r.Scan(&rows) }
	if err = m.db.Read(ctx, "crowd", count, first.Text, last, many); err != nil {
		return nil, err
	}
	if rows == many {
		find = "find_many"
	}
	err = m.db.Read(ctx, find, scan, status, first.Text, last, also, maxCompared)
	return seqs, err
}

// whole reports whether a term is meant as it is, not as a beginning.
func whole(w words.Want) bool { return !w.Prefix || w.Alone() }

func (q *Query) fits(f *Fact) bool {
	return (q.Category == "" || f.Category == q.Category || f.Extension == q.Category) &&
		(q.Agent == nil || f.Agent == *q.Agent) &&
		(q.Folder == nil || f.Folder == *q.Folder)
}

// look weighs how well a fact matches, and how sure and how old it is.
func look(want words.Query, f Fact, now time.Time) (Hit, bool) {
	found := want.Look(f.text())
	if !found.Phrases || found.Terms < len(want.All) || excluded(want, f.Content) {
		return Hit{}, false
	}
	score := f.Confidence + float64(found.Exact)/float64(len(want.All)) + 0.2*math.Log2(1+float64(min(found.Times, 31)))
	if found.Together {
		score += 2
	}
	score += fading(f.UpdatedAt, now, 90)
	return Hit{Fact: f, Excerpt: want.Look(f.Content).Excerpt(f.Content, 200), score: score}, true
}

// excluded reports whether a text has all terms of a group that it may not have.
func excluded(want words.Query, text string) bool {
	if len(want.Not) == 0 {
		return false
	}
	terms := words.Index(text)
	return slices.ContainsFunc(want.Not, func(group []string) bool {
		return !slices.ContainsFunc(group, func(t string) bool { return !slices.Contains(terms, t) })
	})
}
