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
	"strings"

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
		if n, err = load(ctx, t, r); err == nil && last != nil {
			err = last()
		}
		return err
	})
	if err != nil {
		return store.Holding{}, fmt.Errorf("load threads: %w", err)
	}
	return n.holding(), nil
}

func load(ctx context.Context, t *tx, r io.Reader) (n counts, err error) {
	if err := checkEmpty(t); err != nil {
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
			version, err = checkHeader(line)
		case bytes.HasPrefix(line, []byte(`{"kind":"end"`)):
			ended, err = true, n.check(line)
		default:
			err = loadRecord(t, line, version, &n)
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

// checkEmpty makes sure that nothing is there of what a dump holds.
func checkEmpty(t *tx) error {
	var threads, items, assistants int64
	err := t.scan("SELECT (SELECT count(*) FROM threads), (SELECT count(*) FROM items), (SELECT count(*) FROM assistants)", nil,
		&threads, &items, &assistants)
	if err == nil && threads+items+assistants > 0 {
		err = fmt.Errorf("%w: %d threads, %d items and %d versions of assistants are there already", store.ErrConflict, threads, items, assistants)
	}
	return err
}

// checkHeader reads the first record and returns the dump's version.
func checkHeader(line []byte) (version int, err error) {
	var h struct {
		Kind    string `json:"kind"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Kind != "pudu" {
		return 0, errors.New("this is no dump of Pudu")
	}
	if h.Version < 1 || h.Version > dumpVersion {
		return 0, fmt.Errorf("%w: the dump has version %d, this program reads 1 to %d", store.ErrNewer, h.Version, dumpVersion)
	}
	return h.Version, nil
}

// check compares the last record with what was read. Version 1 names neither items nor assistants, and has none.
func (c counts) check(line []byte) error {
	want := bytes.TrimSpace(c.record())
	older, _ := bytes.CutSuffix(want, []byte(`,"items":0,"assistants":0}`))
	if !bytes.Equal(line, want) && !bytes.Equal(bytes.TrimSuffix(line, []byte("}")), older) {
		return fmt.Errorf("records are missing: the dump says %.200s, these were read: %s", line, want)
	}
	return nil
}

// loadRecord inserts one row.
func loadRecord(t *tx, line []byte, version int, n *counts) error {
	if !json.Valid(line) {
		return fmt.Errorf("it is no JSON: %.60s", line)
	}
	members, ok := rawjson.Members(line)
	if !ok {
		return errors.New("it is no JSON object")
	}
	kind, _ := rawjson.String(members["kind"])
	upgrade(version, kind, members)
	for i, table := range tables {
		if table.kind == kind {
			n[i]++
			return table.insert(t, members)
		}
	}
	return fmt.Errorf("kind %.40q is unknown; a newer Pudu may have written it", kind)
}

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
}

func (t table) insert(tx *tx, members map[string]json.RawMessage) error {
	if len(members) != len(t.columns)+1 {
		return fmt.Errorf("%s has %d members and must have %d", t.kind, len(members), len(t.columns)+1)
	}
	values := make([]any, len(t.columns))
	for i, c := range t.columns {
		raw := members[c.name]
		if len(raw) == 0 {
			return fmt.Errorf("%s has no %s", t.kind, c.name)
		}
		var err error
		if values[i], err = c.form.parse(raw); err != nil {
			return fmt.Errorf("%s of %s: %w", c.name, t.kind, err)
		}
	}
	return tx.exec(t.insertion(), values...)
}

func (t table) insertion() string {
	params := make([]string, len(t.columns))
	for i := range params {
		params[i] = fmt.Sprintf("$%d", i+1)
	}
	return "INSERT INTO " + t.name + " (" + t.names() + ") VALUES (" + strings.Join(params, ", ") + ")"
}
