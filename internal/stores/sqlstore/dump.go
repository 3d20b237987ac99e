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

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// dumpVersion is raised when older programs could not load a dump any more. Dumps of all versions before can be loaded.
const dumpVersion = 3

// maxRecordBytes bounds a record. Rows are bounded when they are written, all but snapshots: one that is too large is
// left out, and its state read from the log.
const maxRecordBytes = 256 << 20

// table says how the rows of a table become records and back.
type table struct {
	kind, name string
	thread     string // the column with the thread's id; empty if the rows are of no thread
	order      string
	columns    []column
}

type column struct {
	name string
	form form
}

// form is how a column's value is kept and written.
type form int

const (
	text    form = iota // a string
	key                 // a string or null
	number              // a whole number
	instant             // microseconds, written as RFC 3339
	doc                 // JSON kept as text, or null
	blob                // bytes, or null
	request             // a doc that is the request of a run, without its webhook
)

// tables are what a dump holds, in the order in which they can be loaded.
var tables = []table{
	{"thread", "threads", "id", "id", []column{
		{"id", text}, {"user_id", text}, {"title", text}, {"head", text}, {"created_at", instant}, {"updated_at", instant},
		{"metadata", doc}, {"pinned", number}, {"signature", number},
	}},
	{"run", "runs", "thread_id", "id", []column{
		{"id", text}, {"thread_id", text}, {"user_id", text}, {"status", text}, {"attempt", number}, {"stalled", number},
		{"created_at", instant}, {"updated_at", instant}, {"not_before", instant}, {"owner", text}, {"key", text}, {"stop", text},
		{"notify", number}, {"error", text}, {"stop_reason", text}, {"usage", doc}, {"request", request},
	}},
	{"log", "log", "thread_id", "seq", []column{
		{"thread_id", text}, {"checkpoint_id", key}, {"parent_id", text}, {"run_id", text}, {"attempt", number},
		{"first_n", number}, {"last_n", number}, {"step", number}, {"since", number}, {"snap", number},
		{"created_at", instant}, {"next", text}, {"updates", blob}, {"events", blob},
	}},
	{"snapshot", "snapshots", "thread_id", "thread_id, checkpoint_id", []column{
		{"thread_id", text}, {"checkpoint_id", text}, {"bytes", number}, {"state", blob},
	}},
	{"item", "items", "", "user_id, namespace, key", []column{
		{"user_id", text}, {"namespace", text}, {"key", text}, {"created_at", instant}, {"updated_at", instant},
		{"ttl", number}, {"expires_at", instant}, {"value", doc},
	}},
	{"assistant", "assistants", "", "id, version", []column{
		{"id", text}, {"version", number}, {"in_force", number}, {"user_id", text}, {"graph_id", text}, {"name", text},
		{"created_at", instant}, {"updated_at", instant}, {"description", text}, {"config", doc}, {"context", doc}, {"metadata", doc},
	}},
}

// counts are the records by the index of their table.
type counts [6]int64

func (c counts) holding() store.Holding {
	return store.Holding{Threads: c[0], Runs: c[1], Steps: c[2], Snapshots: c[3], Items: c[4], Assistants: c[5]}
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
	if _, err := fmt.Fprintf(w, `{"kind":"pudu","version":%d}`+"\n", dumpVersion); err != nil {
		return n, err
	}
	for i, t := range tables {
		if t.thread == "" && threadID != "" {
			continue
		}
		if n[i], err = s.dumpTable(ctx, tx, t, threadID, w); err != nil {
			return n, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	_, err = w.Write(n.record())
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

// record is the last one of a dump.
func (c counts) record() []byte {
	return fmt.Appendf(nil, `{"kind":"end","threads":%d,"runs":%d,"log":%d,"snapshots":%d,"items":%d,"assistants":%d}`+"\n",
		c[0], c[1], c[2], c[3], c[4], c[5])
}

// dumpTable writes the rows of a table, of one thread or of all, and returns how many they are.
func (s *Store) dumpTable(ctx context.Context, tx *sql.Tx, t table, threadID string, w io.Writer) (n int64, err error) {
	query := "SELECT " + t.names() + " FROM " + t.name
	var args []any
	if threadID != "" {
		query += " WHERE " + t.thread + " = $1"
		args = append(args, threadID)
	}
	rows, err := tx.QueryContext(ctx, s.dialect.rewrite(query+" ORDER BY "+t.order), args...)
	if err != nil {
		return 0, s.readError(err)
	}
	defer rows.Close()
	var line []byte
	for rows.Next() {
		if line, err = t.record(line[:0], rows); err != nil {
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

// names lists the columns for a statement.
func (t table) names() string {
	var b bytes.Buffer
	for i, c := range t.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name)
	}
	return b.String()
}

// record appends a row as a line.
func (t table) record(b []byte, row scanner) ([]byte, error) {
	cells := make([]any, len(t.columns))
	for i, c := range t.columns {
		switch c.form {
		case number, instant:
			cells[i] = new(int64)
		case doc, blob, request:
			cells[i] = new([]byte)
		case text, key:
			cells[i] = new(sql.NullString)
		}
	}
	if err := row.Scan(cells...); err != nil {
		return nil, err
	}
	o := rawjson.Begin(b)
	o.String("kind", t.kind)
	for i, c := range t.columns {
		o.Key(c.name)
		o.Buf = c.form.append(o.Buf, cells[i])
	}
	b, err := o.End()
	return append(b, '\n'), err
}

// append appends a scanned value as JSON.
func (f form) append(b []byte, cell any) []byte {
	switch v := cell.(type) {
	case *sql.NullString:
		if !v.Valid {
			return append(b, "null"...)
		}
		return rawjson.AppendString(b, v.String)
	case *int64:
		if at := timeOf(*v); f == instant && at.Year() >= 0 && at.Year() <= 9999 {
			return at.AppendFormat(b, `"`+instantLayout+`"`)
		}
		return fmt.Append(b, *v)
	case *[]byte:
		if f == request {
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

// parse reads a member of a record back into what the database takes.
func (f form) parse(raw json.RawMessage) (any, error) {
	null := string(raw) == "null"
	switch f {
	case text, key:
		if null && f == key {
			return nil, nil
		}
		return parseText(raw)
	case instant:
		if s, ok := rawjson.String(raw); ok {
			at, err := time.Parse(time.RFC3339Nano, s)
			return micros(at), err
		}
		return parseNumber(raw)
	case number:
		return parseNumber(raw)
	case doc, blob, request:
	}
	if null {
		return nil, nil
	}
	data, err := parseExact(raw)
	if err == nil && f == request { // which an older program has left in
		data = withoutWebhook(data)
	}
	if err == nil && f != blob {
		return plain(string(data)), checkJSON("it", data)
	}
	return data, err
}

func parseText(raw json.RawMessage) (string, error) {
	s, ok := rawjson.String(raw)
	if !ok {
		return "", fmt.Errorf("must be a string, not %s", rawjson.Kind(raw))
	}
	return plain(s), nil
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
