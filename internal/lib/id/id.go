// Package id makes identifiers: UUIDs of version 7 (RFC 9562), which sort by the time they were made.
package id

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// New returns a new UUID of version 7 for the moment t: 48 bits of milliseconds, then 74 random bits.
func New(t time.Time) string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	ms := uint64(t.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return format(b)
}

func format(b [16]byte) string {
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
