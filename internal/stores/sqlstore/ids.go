package sqlstore

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// checkpointID is a version 7 UUID: 48 bits of milliseconds, 12 bits that count within one, 62 random bits.
type checkpointID [16]byte

// nextCheckpointID makes an id that is greater, as a string, than head (empty if there is none): from the clock if
// that is ahead of head, else by counting on from head, so that ids grow even while the clock goes backwards.
func nextCheckpointID(head string, now time.Time, random [8]byte) (string, error) {
	prefix := uint64(max(now.UnixMilli(), 0)) << 12
	if head != "" {
		h, err := parseCheckpointID(head)
		if err != nil {
			return "", err
		}
		prefix = max(prefix, h.prefix()+1)
	}
	if prefix >= 1<<60 {
		return "", fmt.Errorf("make checkpoint id: time %s is out of range", now)
	}
	var id checkpointID
	binary.BigEndian.PutUint64(id[:8], prefix>>12<<16|0x7000|prefix&0xfff)
	copy(id[8:], random[:])
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}

// prefix is the part that orders the ids: time and counter, 60 bits.
func (id checkpointID) prefix() uint64 {
	v := binary.BigEndian.Uint64(id[:8])
	return v>>16<<12 | v&0xfff
}

func (id checkpointID) String() string { return string(id.appendText(make([]byte, 0, idLen))) }

// idLen is the length of an id that is written out.
const idLen = 36

func (id checkpointID) appendText(b []byte) []byte {
	for i, group := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, group)
	}
	return b
}

func parseCheckpointID(s string) (checkpointID, error) {
	var id checkpointID
	if len(s) == idLen {
		digits := append(make([]byte, 0, idLen), s[:8]...)
		for _, group := range []string{s[9:13], s[14:18], s[19:23], s[24:]} {
			digits = append(digits, group...)
		}
		if _, err := hex.Decode(id[:], digits); err == nil && string(id.appendText(digits[:0])) == s {
			return id, nil
		}
	}
	return checkpointID{}, fmt.Errorf("checkpoint id %q is not a UUID in lower case", s)
}
