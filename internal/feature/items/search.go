package items

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
)

// Search returns items, the last updated first, or with a query those that match best.
func (m *Mine) Search(ctx context.Context, f Filter) ([]Item, error) {
	is, err := m.search(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("search items: %w", err)
	}
	return is, nil
}

func (m *Mine) search(ctx context.Context, f Filter) (is []Item, err error) {
	f.Limit = cmp.Or(f.Limit, 10)
	if err := errors.Join(database.CheckPage(f.Limit, 1000, f.Offset), checkNow(f.Now),
		checkPrefix(f.Prefix)); err != nil {
		return nil, err
	}
	w, err := database.NewWanted(f.Match, true)
	if err != nil {
		return nil, err
	}
	terms, err := newTerms(f.Query)
	switch {
	case err != nil:
		return nil, err
	case terms != nil:
		is, err = m.best(ctx, f, w, terms)
	default:
		is, err = m.newest(ctx, f, w)
	}
	if err == nil && f.Refresh {
		found := make([]*Item, len(is))
		for n := range is {
			found[n] = &is[n]
		}
		err = m.refresh(ctx, f.Now, found...)
	}
	return is, err
}

// all is the limit of a search whose rows are looked at one by one.
const all = math.MaxInt32

// each hands over the items under the filter's prefix, the last updated first.
func (m *Mine) each(ctx context.Context, f Filter, limit, offset int, take func(Item) (more bool, err error)) error {
	from, to := under(f.Prefix)
	return m.db.Read(ctx, "search", func(r database.Row) (bool, error) {
		i, err := scan(r)
		if err != nil {
			return false, err
		}
		return take(i)
	}, database.Micros(f.Now), from, to, limit, offset)
}

// newest reads a page. Where members are wanted, the database cannot count the rows.
func (m *Mine) newest(ctx context.Context, f Filter, w database.Wanted) (is []Item, err error) {
	limit, offset, skip, bytes := f.Limit, f.Offset, 0, 0
	if len(w) > 0 {
		limit, offset, skip = all, 0, f.Offset
	}
	err = m.each(ctx, f, limit, offset, func(i Item) (bool, error) {
		switch {
		case !w.Matches(i.Value):
			return true, nil
		case skip > 0:
			skip--
			return true, nil
		}
		bytes += len(i.Value)
		is = append(is, i)
		return len(is) < f.Limit, database.CheckSize("the page", bytes, maxPage)
	})
	return is, err
}

// under are the bounds of the stored namespaces under a prefix: from the first one on, and before the second.
func under(prefix []string) (from, to string) {
	from = joinLabels(prefix)
	if from == "" {
		return "", string(separator + 1)
	}
	return from, from[:len(from)-1] + string(separator+1)
}

func checkPrefix(prefix []string) error {
	if len(prefix) == 0 {
		return nil
	}
	return checkLabels("prefix", prefix)
}

// Namespaces returns the namespaces that hold items, in their order.
func (m *Mine) Namespaces(ctx context.Context, f NamespaceFilter) ([][]string, error) {
	ns, err := m.namespaces(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	return ns, nil
}

func (m *Mine) namespaces(ctx context.Context, f NamespaceFilter) (out [][]string, err error) {
	skip, left := f.Offset, cmp.Or(f.Limit, 100)
	err = errors.Join(database.CheckPage(left, 1000, skip), checkNow(f.Now))
	if f.MaxDepth < 0 {
		err = errors.Join(err, fmt.Errorf("depth %d is negative", f.MaxDepth))
	}
	if len(f.Suffix) > 0 {
		err = errors.Join(err, checkLabels("suffix", f.Suffix))
	}
	if err = errors.Join(err, checkPrefix(f.Prefix)); err != nil {
		return nil, err
	}
	from, to := under(f.Prefix)
	var last []string
	err = m.db.Read(ctx, "namespaces", func(r database.Row) (bool, error) {
		var joined string
		if err := r.Scan(&joined); err != nil || !strings.HasSuffix(joined, joinLabels(f.Suffix)) {
			return true, err
		}
		labels := splitLabels(joined)
		if f.MaxDepth > 0 {
			labels = labels[:min(f.MaxDepth, len(labels))]
		}
		if slices.Equal(labels, last) { // in their order, those with the same first labels stand side by side
			return true, nil
		}
		last = labels
		if skip > 0 {
			skip--
			return true, nil
		}
		out = append(out, labels)
		return len(out) < left, nil
	}, database.Micros(f.Now), from, to)
	return out, err
}
