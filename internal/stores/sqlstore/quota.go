package sqlstore

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
)

// errTight: what is known of a user's room is not enough for a write, which has to be measured.
var errTight = errors.New("the user's room must be measured")

// room is an amount of rows and bytes.
type room struct{ rows, bytes int64 }

// rooms remember how much a user may surely still add to a table, so that the rows need not be counted at each write.
type rooms struct {
	mu   sync.Mutex
	left map[roomOf]room
}

type roomOf struct{ user, table string }

// maxRooms bounds what is remembered; all is forgotten when it is more.
const maxRooms = 4096

// take takes the room for what is added, if there is enough.
func (r *rooms) take(u access.User, grown map[string]room) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for table, g := range grown {
		if left := r.left[roomOf{u.ID(), table}]; g.rows > left.rows || g.bytes > left.bytes {
			return false
		}
	}
	r.add(u, grown, -1)
	return true
}

// give gives room back that was taken for what came to nothing.
func (r *rooms) give(u access.User, grown map[string]room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(u, grown, 1)
}

func (r *rooms) add(u access.User, grown map[string]room, sign int64) {
	for table, g := range grown {
		at := roomOf{u.ID(), table}
		if left, ok := r.left[at]; ok {
			r.left[at] = room{left.rows + sign*g.rows, left.bytes + sign*g.bytes}
		}
	}
}

// know reports whether all tables of a feature that have a quota were measured for a user.
func (r *rooms) know(b *scope) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range b.f.Tables {
		if _, ok := r.left[roomOf{b.user.ID(), t.Name}]; !ok && b.quota(t.Name) != (database.Quota{}) {
			return false
		}
	}
	return true
}

// set notes how much room there is.
func (r *rooms) set(u access.User, table string, left room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) >= maxRooms || r.left == nil {
		r.left = make(map[roomOf]room)
	}
	r.left[roomOf{u.ID(), table}] = left
}

// grow notes what a statement added at most: each row that it changed with all that the caller gave.
func (x *featureTx) grow(st statement, n int64, args []any) {
	if st.verb != "INSERT INTO" && st.verb != "UPDATE" || x.quota(st.table) == (database.Quota{}) {
		return
	}
	g := x.grown[st.table]
	if st.verb == "INSERT INTO" {
		g.rows += n
	}
	for _, a := range args {
		switch a := a.(type) {
		case string:
			g.bytes += n * int64(len(a))
		case []byte:
			g.bytes += n * int64(len(a))
		}
	}
	if st.verb == "INSERT INTO" {
		g.bytes += n * int64(len(x.user.ID()))
	}
	x.grown[st.table] = g
}

func (b *scope) quota(table string) (q database.Quota) {
	for _, t := range b.f.Tables {
		if t.Name == table && t.User != "" && b.user != (access.User{}) {
			q = t.Quota
		}
	}
	return q
}

// measured is what a user had of a feature before a write.
type measured struct {
	*scope

	before map[string]room
}

// measured writes with a look at what the user has before and after.
func (b *scope) measured(t *tx, do func(database.Tx) error) error {
	before, err := b.measure(t)
	if err != nil {
		return err
	}
	if err := do(&featureTx{scope: b, tx: t, grown: make(map[string]room)}); err != nil || t.failed != nil {
		return errors.Join(err, t.failed)
	}
	return measured{b, before}.check(t)
}

// check refuses what was written since if the user has more than the quota now.
func (m measured) check(t *tx) error {
	after, err := m.measure(t)
	if err != nil {
		return err
	}
	for table, now := range after {
		if err := within(m.quota(table), table, m.before[table], now); err != nil {
			return err
		}
		m.s.rooms.set(m.user, table, sure(m.quota(table), now))
	}
	return nil
}

// within refuses what is more than the quota and more than it was.
func within(q database.Quota, table string, before, now room) error {
	if q.Rows > 0 && now.rows > q.Rows && now.rows > before.rows {
		return fmt.Errorf("%w: %s may have %d rows; delete some first", database.ErrQuota, table, q.Rows)
	}
	if q.Bytes > 0 && now.bytes > q.Bytes && now.bytes > before.bytes {
		return fmt.Errorf("%w: %s may have %d bytes; delete some rows first", database.ErrQuota, table, q.Bytes)
	}
	return nil
}

// sure is half of what is left: so much may be added before the next measure, whatever other processes do.
func sure(q database.Quota, now room) room {
	const boundless = 1 << 60
	left := room{boundless, boundless}
	if q.Rows > 0 {
		left.rows = (q.Rows - now.rows) / 2
	}
	if q.Bytes > 0 {
		left.bytes = (q.Bytes - now.bytes) / 2
	}
	return left
}

// measure counts what the user has in the tables with a quota.
func (b *scope) measure(t *tx) (map[string]room, error) {
	all := make(map[string]room)
	for _, table := range b.f.Tables {
		if b.quota(table.Name) == (database.Quota{}) {
			continue
		}
		var r room
		err := t.scan("SELECT count(*), "+sizeOf(table)+" FROM "+table.Name+" WHERE "+table.User+" = $1",
			[]any{b.user.ID()}, &r.rows, &r.bytes)
		if err != nil {
			return nil, err
		}
		all[table.Name] = r
	}
	return all, nil
}

// sizeOf is the sum of the bytes of a table's rows.
func sizeOf(t database.Table) string {
	var parts []string
	for _, c := range t.Columns {
		if c.Form != database.Number && c.Form != database.Instant {
			parts = append(parts, "COALESCE(octet_length("+c.Name+"), 0)")
		}
	}
	return "CAST(COALESCE(sum(" + strings.Join(append(parts, "0"), " + ") + "), 0) AS BIGINT)"
}
