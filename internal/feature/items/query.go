package items

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/pudu-ai/pudu/internal/database"
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
	if err := database.CheckSize("query", len(query), maxQuery); err != nil {
		return nil, err
	}
	whole := strings.TrimSpace(strings.ToLower(database.Plain(query)))
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

// appendTexts appends the strings and the numbers of a value, each on a line of its own. The names of members are not
// of what somebody wrote down, and left out.
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

// best reads a page of what a query finds, the best first, of equal ones the last updated. It reads every item that is
// selected, and keeps no more of them than the page and what stands before it.
func (m *Mine) best(ctx context.Context, f Filter, w database.Wanted, t *terms) (out []Item, err error) {
	hits, err := m.hits(ctx, f, w, t)
	if err != nil {
		return nil, err
	}
	bytes := 0
	for _, h := range hits[min(f.Offset, len(hits)):] {
		i, err := m.item(ctx, h.namespace, h.key, f.Now)
		if errors.Is(err, store.ErrNotFound) {
			continue // removed meanwhile
		}
		bytes += len(i.Value)
		if err := cmp.Or(err, database.CheckSize("the page", bytes, maxPage)); err != nil {
			return nil, err
		}
		i.Score = h.score
		out = append(out, i)
	}
	return out, nil
}

// hits are the best items up to the end of the page, in order.
func (m *Mine) hits(ctx context.Context, f Filter, w database.Wanted, t *terms) (found []hit, err error) {
	most := f.Offset + f.Limit
	best := func() {
		slices.SortStableFunc(found, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
		found = found[:min(most, len(found))]
	}
	err = m.each(ctx, f, all, 0, func(i Item) (bool, error) {
		if !w.Matches(i.Value) {
			return true, nil
		}
		if score := t.score(i.Value); score > 0 {
			found = append(found, hit{joinLabels(i.Namespace), i.Key, score})
		}
		if len(found) >= 2*most {
			best()
		}
		return true, nil
	})
	best()
	return found, err
}
