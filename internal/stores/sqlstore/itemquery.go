package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// Bounds of the query of a search. The words behind the last that counts are left out.
const (
	maxQuery = 4096
	maxWords = 64
)

// terms are what a query looks for: the whole text, and its words.
type terms struct {
	whole string
	words []string
}

// newTerms takes a query apart; nil means that it asks for nothing.
func newTerms(query string) (*terms, error) {
	if err := checkSize("query", len(query), maxQuery); err != nil {
		return nil, err
	}
	whole := strings.TrimSpace(strings.ToLower(plain(query)))
	if whole == "" {
		return nil, nil
	}
	words := strings.FieldsFunc(whole, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) })
	slices.Sort(words)
	words = slices.Compact(words)
	return &terms{whole, words[:min(len(words), maxWords)]}, nil
}

// score is how much of the query a value has: 0 for nothing, 1 for every word and the whole text.
func (t *terms) score(value []byte) float64 {
	text := strings.ToLower(string(appendTexts(nil, value)))
	found := 0
	for _, part := range append(slices.Clip(t.words), t.whole) {
		if strings.Contains(text, part) {
			found++
		}
	}
	return float64(found) / float64(len(t.words)+1)
}

// appendTexts appends the strings and the numbers of a value, each on a line of its own. The names of members are not of
// what somebody wrote down, and left out.
func appendTexts(b, raw []byte) []byte {
	if len(raw) == 0 {
		return b
	}
	switch raw[0] {
	case '{':
		members, _ := rawjson.Members(raw)
		for _, v := range members {
			b = appendTexts(b, v)
		}
	case '[':
		elements, _ := rawjson.Elements(raw)
		for _, v := range elements {
			b = appendTexts(b, v)
		}
	case '"':
		s, _ := rawjson.String(raw)
		b = append(append(b, s...), '\n')
	case 't', 'f', 'n':
	default:
		b = append(append(b, raw...), '\n')
	}
	return b
}

// hit is an item that a query has found.
type hit struct {
	namespace, key string
	score          float64
}

// bestItems reads a page of what a query finds, the best first, of equal ones the last updated. It reads every item that is
// selected, and keeps no more of them than the page and what stands before it.
func (d *userData) bestItems(ctx context.Context, sel selection, w wanted, t *terms, p *page, now time.Time) ([]store.Item, error) {
	hits, err := d.hits(ctx, sel, w, t, p.skip+p.left)
	if err != nil {
		return nil, err
	}
	var out []store.Item
	bytes := 0
	for _, h := range hits[min(p.skip, len(hits)):] {
		i, err := d.item(ctx, h.namespace, h.key, now)
		if errors.Is(err, store.ErrNotFound) {
			continue // removed meanwhile
		}
		bytes += len(i.Value)
		if err := cmp.Or(err, checkSize("the page", bytes, maxItemsBytes)); err != nil {
			return nil, err
		}
		i.Score = h.score
		out = append(out, i)
	}
	return out, nil
}

// hits are the best most items, in order.
func (d *userData) hits(ctx context.Context, sel selection, w wanted, t *terms, most int) (found []hit, err error) {
	best := func() {
		slices.SortStableFunc(found, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
		found = found[:min(most, len(found))]
	}
	err = d.read(ctx, "SELECT namespace, key, value FROM items"+sel.text()+" ORDER BY "+itemOrder, sel.args,
		func(r *sql.Rows) (bool, error) {
			var h hit
			var value []byte
			if err := r.Scan(&h.namespace, &h.key, &value); err != nil || !w.matches(value) {
				return true, err
			}
			if h.score = t.score(value); h.score > 0 {
				found = append(found, h)
			}
			if len(found) >= 2*most {
				best()
			}
			return true, nil
		})
	best()
	return found, err
}
