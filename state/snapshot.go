package state

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A snapshot is the stored form of a whole state:
//
//	"pudu-state" 0x01                     magic and version
//	then per channel, sorted by name:
//	kind (1 = value, 2 = log) · name · value          for a value
//	                          · count · count × item   for a log
//
// name, value and item are bytes with their length in front; lengths and counts are unsigned varints. The items
// of a log can so be found without parsing JSON.
const snapshotMagic = "pudu-state\x01"

const (
	snapshotValue = 1
	snapshotLog   = 2
)

var errTruncated = errors.New("state snapshot is cut off")

// AppendSnapshot appends the snapshot of s, private channels included.
func (s State) AppendSnapshot(b []byte) ([]byte, error) {
	b = append(b, snapshotMagic...)
	for _, name := range sortedNames(s.cells) {
		enc, err := s.cells[name].encode()
		if err != nil {
			return nil, fmt.Errorf("encode channel %q: %w", name, err)
		}
		if enc.items == nil {
			b = append(b, snapshotValue)
			b = appendBytes(b, name)
			b = appendBytes(b, enc.raw)
			continue
		}
		b = append(b, snapshotLog)
		b = appendBytes(b, name)
		b = binary.AppendUvarint(b, uint64(len(enc.items)))
		for _, it := range enc.items {
			b = appendBytes(b, it)
		}
	}
	return b, nil
}

func appendBytes[S string | []byte](b []byte, s S) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// LoadSnapshot reads what [State.AppendSnapshot] wrote. The state keeps parts of b, which must not change any more.
func (s Schema) LoadSnapshot(b []byte) (State, error) {
	if len(b) < len(snapshotMagic) || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return State{}, errors.New("state snapshot has an unknown format; a newer Pudu may have written it")
	}
	r := snapshotReader{b: b[len(snapshotMagic):]}
	return s.load(func(yield func(string, encoded) error) error {
		for len(r.b) > 0 {
			name, enc := r.channel()
			if r.err != nil {
				return r.err
			}
			if err := yield(name, enc); err != nil {
				return err
			}
		}
		return nil
	})
}

// snapshotReader takes a snapshot apart; after the first failure err is set and it returns zero values.
type snapshotReader struct {
	b   []byte
	err error
}

func (r *snapshotReader) channel() (name string, enc encoded) {
	kind := r.b[0]
	r.b = r.b[1:]
	name = string(r.bytes())
	switch kind {
	case snapshotValue:
		return name, encoded{raw: r.value()}
	case snapshotLog:
		n := r.uvarint()
		if n > uint64(len(r.b))/2 { // every item takes two bytes at least
			r.err = errTruncated
			return "", encoded{}
		}
		enc.items = make([][]byte, n)
		for i := range enc.items {
			enc.items[i] = r.value()
		}
		return name, enc
	}
	r.err = fmt.Errorf("state snapshot has a channel of unknown kind %d", kind)
	return "", encoded{}
}

// value reads the bytes of a JSON value, which are never none.
func (r *snapshotReader) value() []byte {
	v := r.bytes()
	if len(v) == 0 && r.err == nil {
		r.err = errors.New("state snapshot has an empty value")
	}
	return v
}

func (r *snapshotReader) bytes() []byte {
	n := r.uvarint()
	if r.err != nil || n > uint64(len(r.b)) {
		r.err = errTruncated
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *snapshotReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.err = errTruncated
		return 0
	}
	r.b = r.b[n:]
	return v
}
