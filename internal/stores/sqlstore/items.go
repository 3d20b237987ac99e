package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pudu-ai/pudu/internal/store"
)

const (
	maxLabels     = 16
	maxLabel      = 128
	maxValue      = 1 << 20
	maxItemsBytes = 16 << 20 // of one page
)

// itemOrder is the order of an index: rows come in it without being put aside, with their values, to be sorted.
const itemOrder = "updated_at DESC, namespace DESC, key DESC"

const itemColumns = "namespace, key, created_at, updated_at, ttl, expires_at, value"

// maxTTL bounds a time to live: with it the end is still a time that can be written.
const maxTTL = 100 * 365 * 24 * time.Hour

// putItem gives an item that is over, but still there, the time of its beginning anew: to readers it is a new one.
const putItem = "INSERT INTO items (user_id, " + itemColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) " +
	"ON CONFLICT (user_id, namespace, key) DO UPDATE SET updated_at = excluded.updated_at, ttl = excluded.ttl, " +
	"expires_at = excluded.expires_at, value = excluded.value, created_at = CASE WHEN items.expires_at > 0 AND " +
	"items.expires_at <= excluded.updated_at THEN excluded.created_at ELSE items.created_at END"

// PutItem implements [store.Items].
func (d *userData) PutItem(ctx context.Context, i store.Item) error {
	err := errors.Join(checkItem(i.Namespace, i.Key), checkTTL(i.TTL), checkSize("value", len(i.Value), maxValue))
	if err == nil {
		err = checkObject("value", i.Value)
	}
	if err == nil {
		expires := int64(0)
		if i.TTL > 0 {
			expires = micros(i.UpdatedAt.Add(i.TTL))
		}
		err = d.write(ctx, len(i.Value), func(tx *tx) error {
			return tx.exec(putItem, d.user.ID(), joinLabels(i.Namespace), i.Key, micros(i.CreatedAt), micros(i.UpdatedAt),
				i.TTL.Microseconds(), expires, objectText(i.Value))
		})
	}
	if err != nil {
		return fmt.Errorf("put item %.40q: %w", i.Key, err)
	}
	return nil
}

// Item implements [store.Items].
func (d *userData) Item(ctx context.Context, namespace []string, key string, a store.Access) (store.Item, error) {
	err := errors.Join(checkItem(namespace, key), checkNow(a.Now))
	var i store.Item
	if err == nil {
		i, err = d.item(ctx, joinLabels(namespace), key, a.Now)
	}
	if err == nil && a.Refresh {
		err = d.refresh(ctx, a.Now, &i)
	}
	if err != nil {
		return store.Item{}, fmt.Errorf("read item %.40q: %w", key, err)
	}
	return i, nil
}

func (d *userData) item(ctx context.Context, namespace, key string, now time.Time) (i store.Item, err error) {
	query := "SELECT " + itemColumns + " FROM items WHERE user_id = $1 AND namespace = $2 AND key = $3 AND " + alive("$4")
	err = d.read(ctx, query, []any{d.user.ID(), namespace, key, micros(now)}, func(r *sql.Rows) (bool, error) {
		i, err = scanItem(r)
		return false, err
	})
	if err == nil && i.Key == "" {
		err = store.ErrNotFound
	}
	return i, err
}

// alive is the condition that an item's time to live is not over at the moment in the parameter.
func alive(now string) string { return "(expires_at = 0 OR expires_at > " + now + ")" }

// refreshItem leaves alone what is over, and what another read has prolonged further.
const refreshItem = "UPDATE items SET expires_at = CAST($4 AS BIGINT) + ttl WHERE user_id = $1 AND namespace = $2 AND " +
	"key = $3 AND expires_at > $4 AND expires_at < CAST($4 AS BIGINT) + ttl"

// refresh lets the items' times to live begin anew. One that gains less than touchEvery is left alone: reading it again
// and again costs no writing.
func (d *userData) refresh(ctx context.Context, now time.Time, items ...*store.Item) error {
	var stale []*store.Item
	for _, i := range items {
		if i.TTL > 0 && now.Add(i.TTL).Sub(i.Expires) >= touchEvery {
			stale = append(stale, i)
			i.Expires = timeOf(micros(now.Add(i.TTL)))
		}
	}
	if len(stale) == 0 {
		return nil
	}
	return d.write(ctx, 0, func(tx *tx) error {
		for _, i := range stale {
			if err := tx.exec(refreshItem, d.user.ID(), joinLabels(i.Namespace), i.Key, micros(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

func scanItem(r scanner) (i store.Item, err error) {
	var namespace string
	var created, updated, ttl, expires int64
	err = r.Scan(&namespace, &i.Key, &created, &updated, &ttl, &expires, (*[]byte)(&i.Value))
	i.Namespace, i.CreatedAt, i.UpdatedAt = splitLabels(namespace), timeOf(created), timeOf(updated)
	if ttl > 0 {
		i.TTL, i.Expires = time.Duration(ttl)*time.Microsecond, timeOf(expires)
	}
	return i, err
}

// DeleteItem implements [store.Items].
func (d *userData) DeleteItem(ctx context.Context, namespace []string, key string) error {
	err := checkItem(namespace, key)
	if err == nil {
		err = d.write(ctx, 0, func(tx *tx) error {
			return tx.exec("DELETE FROM items WHERE user_id = $1 AND namespace = $2 AND key = $3", d.user.ID(), joinLabels(namespace), key)
		})
	}
	if err != nil {
		return fmt.Errorf("delete item %.40q: %w", key, err)
	}
	return nil
}

// SearchItems implements [store.Items].
func (d *userData) SearchItems(ctx context.Context, f store.ItemFilter) ([]store.Item, error) {
	is, err := d.searchItems(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("search items: %w", err)
	}
	return is, nil
}

func (d *userData) searchItems(ctx context.Context, f store.ItemFilter) (is []store.Item, err error) {
	p := &page{f.Offset, cmp.Or(f.Limit, 10)}
	if err := errors.Join(checkPage(p.left, 1000, p.skip), checkNow(f.Now)); err != nil {
		return nil, err
	}
	// The condition on the namespace is none for an index, so that the one by time is taken.
	sel, err := d.selectItems(f.Prefix, "namespace || ''", f.Now)
	if err != nil {
		return nil, err
	}
	w, err := newWanted(f.Match, true)
	if err != nil {
		return nil, err
	}
	terms, err := newTerms(f.Query)
	switch {
	case err != nil:
		return nil, err
	case terms != nil:
		is, err = d.bestItems(ctx, sel, w, terms, p, f.Now)
	default:
		is, err = d.newestItems(ctx, sel, w, p)
	}
	if err == nil && f.Refresh {
		found := make([]*store.Item, len(is))
		for n := range is {
			found[n] = &is[n]
		}
		err = d.refresh(ctx, f.Now, found...)
	}
	return is, err
}

func (d *userData) newestItems(ctx context.Context, sel selection, w wanted, p *page) ([]store.Item, error) {
	sel.open = len(w) > 0
	bytes := 0
	return readPage(ctx, d, "SELECT "+itemColumns+" FROM items", itemOrder, sel, p,
		func(r *sql.Rows) (i store.Item, meant bool, err error) {
			i, err = scanItem(r)
			if meant = w.matches(i.Value); meant && p.skip == 0 && err == nil {
				bytes += len(i.Value)
				err = checkSize("the page", bytes, maxItemsBytes)
			}
			return i, meant, err
		})
}

// selectItems selects the items under a prefix that are there at a moment.
func (d *userData) selectItems(prefix []string, namespace string, now time.Time) (sel selection, err error) {
	sel = d.mine()
	sel.add(alive(sel.param(micros(now))))
	if len(prefix) > 0 {
		from := joinLabels(prefix)
		to := from[:len(from)-1] + string(separator+1)
		sel.add(namespace + " >= " + sel.param(from))
		sel.add(namespace + " < " + sel.param(to))
		err = checkLabels("prefix", prefix)
	}
	return sel, err
}

// Namespaces implements [store.Items].
func (d *userData) Namespaces(ctx context.Context, f store.NamespaceFilter) ([][]string, error) {
	ns, err := d.namespaces(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	return ns, nil
}

func (d *userData) namespaces(ctx context.Context, f store.NamespaceFilter) (out [][]string, err error) {
	skip, left := f.Offset, cmp.Or(f.Limit, 100)
	err = errors.Join(checkPage(left, 1000, skip), checkNow(f.Now))
	if f.MaxDepth < 0 {
		err = errors.Join(err, fmt.Errorf("depth %d is negative", f.MaxDepth))
	}
	if len(f.Suffix) > 0 {
		err = errors.Join(err, checkLabels("suffix", f.Suffix))
	}
	sel, wrong := d.selectItems(f.Prefix, "namespace", f.Now)
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	var last []string
	err = d.read(ctx, "SELECT DISTINCT namespace FROM items"+sel.text()+" ORDER BY namespace", sel.args, func(r *sql.Rows) (bool, error) {
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
	})
	return out, err
}

// separator stands before each label of a stored namespace, and behind the last.
const separator = '\x01'

func joinLabels(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return string(separator) + strings.Join(labels, string(separator)) + string(separator)
}

func splitLabels(joined string) []string {
	return strings.Split(strings.Trim(joined, string(separator)), string(separator))
}

func checkItem(namespace []string, key string) error {
	err := errors.Join(checkText("key", key), checkLabels("namespace", namespace))
	if key == "" {
		err = errors.Join(err, errors.New("key is empty"))
	}
	return err
}

func checkTTL(ttl time.Duration) error {
	if ttl < 0 || ttl > 0 && ttl < time.Microsecond || ttl > maxTTL {
		return fmt.Errorf("time to live %v is not between a microsecond and 100 years", ttl)
	}
	return nil
}

// checkNow refuses a read without its moment, to which nothing would be over.
func checkNow(now time.Time) error {
	if now.IsZero() {
		return errors.New("the moment of the read is missing")
	}
	return nil
}

// checkLabels refuses what is no namespace, nor a part of one.
func checkLabels(what string, labels []string) error {
	if len(labels) == 0 || len(labels) > maxLabels {
		return fmt.Errorf("%s has %d labels and may have 1 to %d", what, len(labels), maxLabels)
	}
	for _, l := range labels {
		if l == "" || len(l) > maxLabel || strings.ContainsRune(l, '.') || strings.ContainsFunc(l, unicode.IsControl) || checkText("label", l) != nil {
			return fmt.Errorf("label %.40q of %s is not 1 to %d bytes of UTF-8 without a dot or a control character", l, what, maxLabel)
		}
	}
	return nil
}
