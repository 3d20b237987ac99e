package gemini

import "github.com/pudu-ai/pudu/internal/rawjson"

// cursor walks over valid JSON (json.Valid) once, from the front, and copies nothing: every piece of an answer repeats a
// page of counters that nobody needs. Over anything else it walks to nonsense, but neither panics nor stands still.
type cursor struct{ rest []byte }

// enter steps into an object or a list, by its opening bracket. A value of another kind is stepped over.
func (c *cursor) enter(bracket byte) bool {
	c.space()
	if len(c.rest) == 0 || c.rest[0] != bracket {
		c.value()
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// more reports whether another member or element follows. If not, it steps out.
func (c *cursor) more() bool {
	c.space()
	if len(c.rest) > 0 && c.rest[0] == ',' {
		c.rest = c.rest[1:]
		c.space()
	}
	if len(c.rest) == 0 {
		return false
	}
	if c.rest[0] == '}' || c.rest[0] == ']' {
		c.rest = c.rest[1:]
		return false
	}
	return true
}

// key reads the name of a member, as it is written: none of the API's has an escape.
func (c *cursor) key() []byte {
	name, rest := rawjson.Value(c.rest)
	c.rest = rest
	c.space()
	if len(name) < len(`""`) || len(c.rest) == 0 || c.rest[0] != ':' {
		c.rest = nil
		return nil
	}
	c.rest = c.rest[1:]
	return name[1 : len(name)-1]
}

// value reads a value. It shares the memory of the JSON.
func (c *cursor) value() []byte {
	c.space()
	v, rest := rawjson.Value(c.rest)
	c.rest = rest
	if len(v) == 0 {
		c.rest = nil
	}
	return v
}

func (c *cursor) space() {
	for len(c.rest) > 0 && (c.rest[0] == ' ' || c.rest[0] == '\n' || c.rest[0] == '\t' || c.rest[0] == '\r') {
		c.rest = c.rest[1:]
	}
}

// text is a JSON string's content, empty for anything else.
func text(raw []byte) string {
	s, _ := rawjson.String(raw)
	return s
}
