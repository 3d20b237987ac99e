package database

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/store"
)

// CheckID refuses what cannot be a key in every database.
func CheckID(what, id string) error {
	if id == "" {
		return fmt.Errorf("%s id is empty", what)
	}
	return CheckText(what+" id", id)
}

// CheckText refuses what is no text in every database, or no short one.
func CheckText(what, s string) error {
	if len(s) > 256 || strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return fmt.Errorf("%s %.40q is not of at most 256 bytes of UTF-8 without NUL", what, s)
	}
	return nil
}

// CheckPage checks the limit and the offset of a listing.
func CheckPage(limit, most, offset int) error {
	if offset < 0 {
		return fmt.Errorf("offset %d is negative", offset)
	}
	return CheckLimit(limit, most)
}

// CheckLimit checks the limit of a listing.
func CheckLimit(limit, most int) error {
	if limit < 1 || limit > most {
		return fmt.Errorf("limit %d is not between 1 and %d", limit, most)
	}
	return nil
}

// CheckSize refuses what has too many bytes.
func CheckSize(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("%w: %s has %d bytes, more than %d", store.ErrTooLarge, what, n, most)
	}
	return nil
}

// CheckObject accepts a JSON object or nil.
func CheckObject(what string, raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return fmt.Errorf("%s is not a JSON object: %.40s", what, raw)
	}
	return nil
}

// Plain makes free text into what is text in every database: what cannot be kept becomes U+FFFD.
func Plain(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// ObjectText is what stands in a column for a JSON object; nil is an empty one.
func ObjectText(raw json.RawMessage) string {
	if raw == nil {
		return "{}"
	}
	return Plain(string(raw))
}

// Micros and TimeOf turn times into what is stored and back: microseconds, UTC.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// TimeOf undoes [Micros].
func TimeOf(us int64) time.Time { return time.UnixMicro(us).UTC() }
