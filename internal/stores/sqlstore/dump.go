package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// maxRecordBytes bounds a record. Rows are bounded when they are written, all but snapshots: one that is too large is
// left out, and its state read from the log.
const maxRecordBytes = 256 << 20

// counts are the records by the index of their table.
type counts []int64

func (c counts) holding() store.Holding {
	h := store.Holding{Threads: c[0], Runs: c[1], Steps: c[2], Snapshots: c[3]}
	for _, n := range c[4:] {
		h.Rows += n
	}
	return h
}

// Dump implements [store.Keeper].
func (s *Store) Dump(ctx context.Context, w io.Writer) (store.Holding, error) {
	n, err := s.dump(ctx, "", w)
	if err != nil {
		return store.Holding{}, fmt.Errorf("dump everything: %w", err)
	}
	return n.holding(), nil
}

// DumpThread implements [store.Threads].
func (d *userData) DumpThread(ctx context.Context, id string, w io.Writer) (store.Holding, error) {
	_, err := d.Thread(ctx, id)
	var n counts
	if err == nil {
		n, err = d.s.dump(ctx, id, w)
	}
	if err != nil {
		return store.Holding{}, fmt.Errorf("dump thread %q: %w", id, err)
	}
	return n.holding(), nil
}

// dump writes all tables, or what they have of a thread. Of that the caller knows whose it is: it never changes hands.
func (s *Store) dump(ctx context.Context, threadID string, w io.Writer) (n counts, err error) {
	if err := s.watch.err(); err != nil {
		return n, err
	}
	tx, err := s.readers.BeginTx(ctx, s.oneMoment())
	if err != nil {
		return n, s.readError(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	if d, ok := s.dialect.(unhurried); ok {
		if _, err := tx.ExecContext(ctx, d.unhurry()); err != nil {
			return n, s.readError(err)
		}
	}
	if _, err := fmt.Fprintf(w, `{"kind":"pudu","version":%d}`+"\n", s.schema); err != nil {
		return n, err
	}
	n = make(counts, len(s.tables))
	for i, t := range s.tables {
		if t.Derived || t.Thread == "" && threadID != "" {
			continue
		}
		if n[i], err = s.dumpTable(ctx, tx, t, threadID, w); err != nil {
			return n, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	_, err = w.Write(s.endRecord(n))
	return n, err
}

// oneMoment are the options of a transaction that reads what was there when it began. Every transaction of SQLite does.
func (s *Store) oneMoment() *sql.TxOptions {
	if _, ok := s.dialect.(sqlite); ok {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// unhurried is a dialect that ends a transaction in which too long nothing is asked, unless it is told not to.
type unhurried interface {
	// unhurry is the statement that lets the transaction that it stands in take its time.
	unhurry() string
}

var _ unhurried = (*postgres)(nil)

func (*postgres) unhurry() string { return "SET LOCAL idle_in_transaction_session_timeout = 0" }

// endRecord is the last one of a dump.
func (s *Store) endRecord(c counts) []byte {
	b := []byte(`{"kind":"end"`)
	for i, t := range s.tables {
		if !t.Derived {
			b = fmt.Appendf(b, `,"%s":%d`, t.Name, c[i])
		}
	}
	return append(b, "}\n"...)
}

// dumpTable writes the rows of a table, of one thread or of all, and returns how many they are.
func (s *Store) dumpTable(ctx context.Context, tx *sql.Tx, t database.Table, threadID string,
	w io.Writer) (n int64, err error) {
	query := "SELECT " + names(t) + " FROM " + t.Name
	var args []any
	if threadID != "" {
		query += " WHERE " + t.Thread + " = $1"
		args = append(args, threadID)
	}
	rows, err := tx.QueryContext(ctx, s.dialect.rewrite(query+" ORDER BY "+keyOf(t)), args...)
	if err != nil {
		return 0, s.readError(err)
	}
	defer rows.Close()
	var line []byte
	cells := cellsOf(t)
	for rows.Next() {
		if line, err = appendRecord(line[:0], t, cells, rows); err != nil {
			return n, err
		}
		if len(line) > maxRecordBytes {
			continue
		}
		if _, err := w.Write(line); err != nil {
			return n, err
		}
		n++
	}
	return n, s.readError(rows.Err())
}

// cellsOf are what the rows of a table are scanned into, one after the other.
func cellsOf(t database.Table) []any {
	cells := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		switch c.Form {
		case database.Number, database.Instant:
			cells[i] = new(int64)
		case database.Doc, database.Blob, database.Request:
			cells[i] = new(sql.RawBytes)
		case database.Text, database.Key, database.Secret:
			cells[i] = new(sql.NullString)
		}
	}
	return cells
}

// appendRecord appends a row as a line.
func appendRecord(b []byte, t database.Table, cells []any, row scanner) ([]byte, error) {
	if err := row.Scan(cells...); err != nil {
		return nil, err
	}
	o := rawjson.Begin(b)
	o.String("kind", t.Kind)
	for i, c := range t.Columns {
		o.Key(memberOf(t, c))
		o.Buf = appendCell(o.Buf, c.Form, cells[i])
	}
	b, err := o.End()
	return append(b, '\n'), err
}

// appendCell appends a scanned value as JSON.
func appendCell(b []byte, f database.Form, cell any) []byte {
	switch v := cell.(type) {
	case *sql.NullString:
		if !v.Valid {
			return append(b, "null"...)
		}
		if f == database.Secret {
			return append(b, `""`...)
		}
		return rawjson.AppendString(b, v.String)
	case *int64:
		if at := database.TimeOf(*v); f == database.Instant && at.Year() >= 0 && at.Year() <= 9999 {
			return at.AppendFormat(b, `"`+instantLayout+`"`)
		}
		return fmt.Append(b, *v)
	case *sql.RawBytes:
		if f == database.Request {
			return appendExact(b, withoutWebhook(*v))
		}
		return appendExact(b, *v)
	}
	return b
}

// withoutWebhook takes the webhook out of a run's request, and says that there was one.
func withoutWebhook(raw []byte) []byte {
	members, ok := rawjson.Members(raw)
	if url, is := rawjson.String(members[store.RequestWebhook]); !ok || !is || url == "" {
		return raw
	}
	delete(members, store.RequestWebhook)
	members[store.RequestWebhookDropped] = json.RawMessage("true")
	o := rawjson.Begin(nil)
	o.Members(members)
	out, err := o.End()
	if err != nil {
		return []byte(`{"` + store.RequestWebhookDropped + `":true}`) // cannot be: the members were read
	}
	return out
}

const instantLayout = "2006-01-02T15:04:05.000000Z"

// appendExact appends bytes so that exactly they can be read back: as the JSON that they are, or in base64.
func appendExact(b, raw []byte) []byte {
	switch {
	case raw == nil:
		return append(b, "null"...)
	case standsAlone(raw):
		return append(b, raw...)
	}
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, raw)
	return append(b, '"')
}

// standsAlone reports whether raw is a JSON object or list that can be put into a line as it is.
func standsAlone(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '{' && raw[0] != '[' || raw[len(raw)-1] != raw[0]+2 {
		return false
	}
	return bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 && json.Valid(raw) && utf8.Valid(raw)
}

// parseCell reads a member of a record back into what the database takes.
func parseCell(f database.Form, raw json.RawMessage) (any, error) {
	null := string(raw) == "null"
	switch f {
	case database.Text, database.Key, database.Secret:
		if null && f == database.Key {
			return nil, nil
		}
		return parseText(raw)
	case database.Instant:
		if s, ok := rawjson.String(raw); ok {
			at, err := time.Parse(time.RFC3339Nano, s)
			return database.Micros(at), err
		}
		return parseNumber(raw)
	case database.Number:
		return parseNumber(raw)
	case database.Doc, database.Blob, database.Request:
	}
	if null {
		return nil, nil
	}
	data, err := parseExact(raw)
	if err == nil && f == database.Request { // which an older program has left in
		data = withoutWebhook(data)
	}
	if err == nil && f != database.Blob {
		return database.Plain(string(data)), checkJSON("it", data)
	}
	return data, err
}

func parseText(raw json.RawMessage) (string, error) {
	s, ok := rawjson.String(raw)
	if !ok {
		return "", fmt.Errorf("must be a string, not %s", rawjson.Kind(raw))
	}
	return database.Plain(s), nil
}

func parseNumber(raw json.RawMessage) (n int64, err error) {
	if err := json.Unmarshal(raw, &n); err != nil || string(raw) == "null" {
		return 0, fmt.Errorf("must be a whole number, not %.40s", raw)
	}
	return n, nil
}

// parseExact undoes appendExact.
func parseExact(raw json.RawMessage) ([]byte, error) {
	if raw[0] == '{' || raw[0] == '[' {
		return raw, nil
	}
	s, err := parseText(raw)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(s)
}
