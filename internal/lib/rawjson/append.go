// Package rawjson writes JSON by hand and takes it apart without changing a byte of its values.
//
// encoding/json compacts what a json.Marshaler or a json.RawMessage gives it. The arguments of a tool call must stay
// as the model wrote them, and a chunk of text is written for every token, so the codecs of messages, events and
// updates append their JSON with this package. Reading relies on the input to be valid, but for [Valid] and [Scanner],
// which check what they read.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// plain reports whether a byte stands in a JSON string as it is, whatever its neighbours. It compares in place of
// looking the byte up in a table: the race detector watches each look.
func plain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// AppendString appends s as a JSON string. Only what JSON demands is escaped; bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain(c) {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, s[start:i]...)
			b = append(b, "\uFFFD"...)
			start = i + 1
		}
		i += n
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

var errNotJSON = errors.New("not valid JSON")

// AppendRaw appends one JSON value byte for byte; an empty one is null. It is an error if raw is no JSON, because one
// bad value would make everything around it unreadable.
func AppendRaw(b, raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return append(b, "null"...), nil
	}
	if !Valid(raw) {
		return b, errNotJSON
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return append(b, raw...), nil
}

// Object appends the members of a JSON object to Buf. Err is the first failure; it names the member.
type Object struct {
	Buf []byte
	Err error
}

// Begin opens an object behind b. Close it with [Object.End].
func Begin(b []byte) Object { return Object{Buf: append(b, '{')} }

// End closes the object and returns the buffer, or nil and the first failure.
func (o *Object) End() ([]byte, error) {
	if o.Err != nil {
		return nil, o.Err
	}
	return append(o.Buf, '}'), nil
}

// Key starts a member; the caller appends its value to Buf.
func (o *Object) Key(name string) {
	if o.Buf[len(o.Buf)-1] != '{' { // no value ends with a brace that opens
		o.Buf = append(o.Buf, ',')
	}
	o.Buf = append(AppendString(o.Buf, name), ':')
}

// Done takes what an appender of the member's value returned.
func (o *Object) Done(name string, b []byte, err error) {
	if err != nil {
		if o.Err == nil {
			o.Err = fmt.Errorf("%s: %w", name, err)
		}
		o.Buf = append(o.Buf, "null"...)
		return
	}
	o.Buf = b
}

// String adds a string.
func (o *Object) String(name, s string) {
	o.Key(name)
	o.Buf = AppendString(o.Buf, s)
}

// StringOrNull adds a string, or null for an empty one.
func (o *Object) StringOrNull(name, s string) {
	if s == "" {
		o.Raw(name, nil)
		return
	}
	o.String(name, s)
}

// OmitEmpty adds a string unless it is empty.
func (o *Object) OmitEmpty(name, s string) {
	if s != "" {
		o.String(name, s)
	}
}

// Int adds an integer.
func (o *Object) Int(name string, n int64) {
	o.Key(name)
	o.Buf = strconv.AppendInt(o.Buf, n, 10)
}

// Raw adds a JSON value as [AppendRaw] does.
func (o *Object) Raw(name string, raw json.RawMessage) {
	o.Key(name)
	b, err := AppendRaw(o.Buf, raw)
	o.Done(name, b, err)
}

// RawOmitEmpty adds a JSON value unless it is empty.
func (o *Object) RawOmitEmpty(name string, raw json.RawMessage) {
	if len(raw) > 0 {
		o.Raw(name, raw)
	}
}

// Members adds the members of m, sorted by name so that equal maps have equal bytes.
func (o *Object) Members(m map[string]json.RawMessage) {
	if len(m) == 0 {
		return
	}
	var room [16]string
	names := room[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o.Raw(name, m[name])
	}
}

// Object adds an object of the members of m.
func (o *Object) Object(name string, m map[string]json.RawMessage) {
	o.Key(name)
	in := Begin(o.Buf)
	in.Members(m)
	b, err := in.End()
	o.Done(name, b, err)
}
