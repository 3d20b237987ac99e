package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// halves joins the pieces of one text. Servers cut a text anywhere: in the bytes of a rune, or between the two \u
// escapes of one. The first half waits here for the second.
type halves struct{ held []byte }

// join takes a JSON string as it stood on the wire and returns the text up to the last whole rune. Anything but a
// string is empty.
func (h *halves) join(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if body := raw[1 : len(raw)-1]; len(h.held) > 0 || halfAt(body) > 0 {
		body = append(h.held, body...)
		n := len(body) - halfAt(body)
		h.held = bytes.Clone(body[n:])
		raw = slices.Concat([]byte{'"'}, body[:n], []byte{'"'})
	}
	text, _ := rawjson.String(raw)
	return text
}

// rest is what never got its second half, as a replacement character.
func (h *halves) rest() string {
	body := h.held
	h.held = nil
	if len(body) == 0 {
		return ""
	}
	return string(utf8.RuneError)
}

// halfAt is the length of the half rune at the end of body, or 0.
func halfAt(body []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(body)); n++ {
		if b := body[len(body)-n]; b < utf8.RuneSelf {
			break
		} else if utf8.RuneStart(b) {
			if !utf8.FullRune(body[len(body)-n:]) {
				return n
			}
			break
		}
	}
	if endsWithHighSurrogate(body) {
		return len(`\ud83d`)
	}
	return 0
}

// endsWithHighSurrogate looks for \ud800 to \udbff, whose backslash must not be escaped itself.
func endsWithHighSurrogate(body []byte) bool {
	at := len(body) - len(`\ud83d`)
	if at < 0 || body[at] != '\\' || body[at+1] != 'u' || body[at+2]|0x20 != 'd' ||
		!strings.ContainsRune("89abAB", rune(body[at+3])) {
		return false
	}
	slashes := 0
	for i := at - 1; i >= 0 && body[i] == '\\'; i-- {
		slashes++
	}
	return slashes%2 == 0
}
