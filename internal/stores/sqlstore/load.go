package sqlstore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// Load implements [store.Keeper]. It is one transaction.
func (s *Store) Load(ctx context.Context, r io.Reader, last func() error) (store.Holding, error) {
	var n counts
	begun := false
	err := s.write(ctx, 0, func(t *tx) (err error) {
		if begun {
			return errors.New("the transaction was lost; try again") // r cannot be read twice
		}
		begun = true
		if d, ok := s.dialect.(unhurried); ok { // r, and last, may take long
			if err := t.exec(d.unhurry()); err != nil {
				return err
			}
		}
		if n, err = s.load(ctx, t, r); err == nil && last != nil {
			err = last()
		}
		return err
	})
	if err != nil {
		return store.Holding{}, fmt.Errorf("load threads: %w", err)
	}
	return n.holding(), nil
}

func (s *Store) load(ctx context.Context, t *tx, r io.Reader) (n counts, err error) {
	n = make(counts, len(s.tables))
	if err := s.checkEmpty(t); err != nil {
		return n, err
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxRecordBytes)
	at, version, ended := 0, 0, false
	for lines.Scan() && err == nil {
		at++
		switch line := lines.Bytes(); {
		case ctx.Err() != nil:
			err = ctx.Err()
		case ended:
			err = errors.New("it comes after the last record")
		case at == 1:
			version, err = s.checkHeader(line)
		case bytes.HasPrefix(line, []byte(`{"kind":"end"`)):
			ended, err = true, s.checkEnd(n, line)
		default:
			err = s.loadRecord(t, line, version, n)
		}
	}
	if err := lines.Err(); err != nil { // first: the last line may be what was read of a record until then
		return n, fmt.Errorf("read record %d: %w", at+1, err)
	}
	if err != nil {
		return n, fmt.Errorf("record %d: %w", at, err)
	}
	if !ended {
		return n, fmt.Errorf("the dump is cut off after record %d", at)
	}
	return n, nil
}

// checkEmpty makes sure that nothing is there of what a dump holds, but traces, which it removes.
func (s *Store) checkEmpty(t *tx) error {
	for _, table := range s.tables {
		if table.Trace != "" {
			if err := t.exec("DELETE FROM " + table.Name + " WHERE " + table.Trace + " <> 0"); err != nil {
				return err
			}
		}
		var n int64
		if err := t.scan("SELECT count(*) FROM "+table.Name, nil, &n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w: %d %s are there already", store.ErrConflict, n, table.Name)
		}
	}
	return nil
}

// checkHeader reads the first record and returns the dump's version.
func (s *Store) checkHeader(line []byte) (version int, err error) {
	var h struct {
		Kind    string `json:"kind"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Kind != "pudu" {
		return 0, errors.New("this is no dump of Pudu")
	}
	if h.Version < 1 || h.Version > s.schema {
		return 0, fmt.Errorf("%w: the dump has version %d, this program reads 1 to %d", store.ErrNewer, h.Version,
			s.schema)
	}
	return h.Version, nil
}

// checkEnd compares the last record with what was read. Of a table that it does not name there is nothing.
func (s *Store) checkEnd(c counts, line []byte) error {
	var said map[string]json.RawMessage
	err := json.Unmarshal(line, &said)
	delete(said, "kind")
	for i, t := range s.tables {
		if n, ok := said[t.Name]; err == nil && string(n) != strconv.FormatInt(c[i], 10) && (ok || c[i] > 0) {
			err = errors.New("they differ in " + t.Name)
		}
		delete(said, t.Name)
	}
	if err == nil && len(said) > 0 {
		err = errors.New("it counts what is unknown")
	}
	if err != nil {
		return fmt.Errorf("records are missing: the dump says %.200s, these were read: %s (%w)", line,
			bytes.TrimSpace(s.endRecord(c)), err)
	}
	return nil
}

// loadRecord inserts one row.
func (s *Store) loadRecord(t *tx, line []byte, version int, n counts) error {
	if !json.Valid(line) {
		return fmt.Errorf("it is no JSON: %.60s", line)
	}
	members, ok := rawjson.Members(line)
	if !ok {
		return errors.New("it is no JSON object")
	}
	kind, _ := rawjson.String(members["kind"])
	upgrade(version, kind, members)
	for i, table := range s.tables {
		if table.Kind == kind {
			n[i]++
			return insert(t, table, members)
		}
	}
	return fmt.Errorf("kind %.40q is unknown; a newer Pudu may have written it", kind)
}

// marksSince is the version with which threads have marks.
const marksSince = 13

// steersSince is the version with which runs have steers.
const steersSince = 22

// upgrade gives a record of an older version the members that came later.
func upgrade(version int, kind string, members map[string]json.RawMessage) {
	switch {
	case version == 1 && kind == "thread":
		members["pinned"] = fmt.Append(nil, pinned(members["metadata"]))
		members["signature"] = []byte("-1")
	case version == 1 && kind == "run":
		maps.Copy(members, map[string]json.RawMessage{
			"not_before": []byte("0"), "key": []byte(`""`), "stop": []byte(`""`), "notify": []byte("0")})
	case version < 3 && kind == "item":
		maps.Copy(members, map[string]json.RawMessage{"ttl": []byte("0"), "expires_at": []byte("0")})
	}
	if version < marksSince && kind == "thread" {
		maps.Copy(members, map[string]json.RawMessage{"marks": []byte("0"), "trashed_at": []byte("0")})
	}
	switch {
	case version < 9 && kind == "thread":
		members["root_id"] = []byte(`""`)
	case version < 9 && kind == "run":
		maps.Copy(members, map[string]json.RawMessage{"parent_id": []byte(`""`), "root_id": []byte(`""`),
			"depth": []byte("0")})
	}
	if version < steersSince && kind == "run" {
		members["steers"] = []byte(`""`)
	}
}

func insert(tx *tx, t database.Table, members map[string]json.RawMessage) error {
	if len(members) != len(t.Columns)+1 {
		return fmt.Errorf("%s has %d members and must have %d", t.Kind, len(members), len(t.Columns)+1)
	}
	values := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		raw := members[memberOf(t, c)]
		if len(raw) == 0 {
			return fmt.Errorf("%s has no %s", t.Kind, c.Name)
		}
		var err error
		if values[i], err = parseCell(c.Form, raw); err != nil {
			return fmt.Errorf("%s of %s: %w", c.Name, t.Kind, err)
		}
	}
	return tx.exec(insertion(t), values...)
}

func insertion(t database.Table) string {
	params := make([]string, len(t.Columns))
	for i := range params {
		params[i] = fmt.Sprintf("$%d", i+1)
	}
	return "INSERT INTO " + t.Name + " (" + names(t) + ") VALUES (" + strings.Join(params, ", ") + ")"
}
