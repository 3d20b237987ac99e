package picture

import "slices"

// cache holds the strings that were used last, up to a number of bytes. What it holds is large, so there are few: it
// looks for them one by one.
type cache struct {
	limit, size int
	entries     []entry // the one used last at the end
}

type entry struct{ key, value string }

func (c *cache) get(key string) (string, bool) {
	i := slices.IndexFunc(c.entries, func(e entry) bool { return e.key == key })
	if i < 0 {
		return "", false
	}
	e := c.entries[i]
	c.entries = append(slices.Delete(c.entries, i, i+1), e)
	return e.value, true
}

// put adds a string. One that is larger than the whole cache is not kept.
func (c *cache) put(key, value string) {
	if _, ok := c.get(key); ok || len(value) > c.limit {
		return
	}
	c.entries = append(c.entries, entry{key, value})
	c.size += len(value)
	gone := 0
	for ; c.size > c.limit; gone++ {
		c.size -= len(c.entries[gone].value)
	}
	c.entries = slices.Delete(c.entries, 0, gone)
}
