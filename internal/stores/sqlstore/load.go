package sqlstore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pudu-ai/pudu/internal/rawjson"
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
	var there int64
	if err := t.scan("SELECT count(*) FROM threads", nil, &there); err != nil {
		return n, err
	}
	if there > 0 {
		return n, fmt.Errorf("%w: %d threads are there already", store.ErrConflict, there)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxRecordBytes)
	at, ended := 0, false
	for lines.Scan() && err == nil {
		at++
		switch line := lines.Bytes(); {
		case ctx.Err() != nil:
			err = ctx.Err()
		case ended:
			err = errors.New("it comes after the last record")
		case at == 1:
			err = checkHeader(line)
		case bytes.HasPrefix(line, []byte(`{"kind":"end"`)):
			ended, err = true, n.check(line)
		default:
			err = loadRecord(t, line, &n)
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

// checkHeader reads the first record.
func checkHeader(line []byte) error {
	var h struct {
		Kind    string `json:"kind"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Kind != "pudu" {
		return errors.New("this is no dump of Pudu")
	}
	if h.Version != dumpVersion {
		return fmt.Errorf("%w: the dump has version %d, this program reads %d", store.ErrNewer, h.Version, dumpVersion)
	}
	return nil
}

// check compares the last record with what was read.
func (c counts) check(line []byte) error {
	if want := bytes.TrimSpace(c.record()); !bytes.Equal(line, want) {
		return fmt.Errorf("records are missing: the dump says %.200s, these were read: %s", line, want)
	}
	return nil
}

// loadRecord inserts one row.
func loadRecord(t *tx, line []byte, n *counts) error {
	if !json.Valid(line) {
		return fmt.Errorf("it is no JSON: %.60s", line)
	}
	members, ok := rawjson.Members(line)
	if !ok {
		return errors.New("it is no JSON object")
	}
	kind, _ := rawjson.String(members["kind"])
	for i, table := range tables {
		if table.kind == kind {
			n[i]++
			return table.insert(t, members)
		}
	}
	return fmt.Errorf("kind %.40q is unknown; a newer Pudu may have written it", kind)
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
