package config

import (
	"fmt"
	"slices"
)

// FallbacksOf are the usable models that are asked when m does not answer, in their order. A fallback's own list counts
// for the runs that begin with it alone.
func (c *Config) FallbacksOf(m Model) []Model {
	var list []Model
	for _, name := range m.Fallbacks {
		f, ok := c.Model(name)
		twice := name == m.Name || slices.ContainsFunc(list, func(o Model) bool { return o.Name == name })
		if ok && f.Err == nil && !twice {
			list = append(list, f)
		}
	}
	return list
}

// checkFallbacks says which names of the lists stand for nothing.
func (c *Config) checkFallbacks(d *decoder) {
	for i, m := range c.Models {
		for j, name := range m.Fallbacks {
			at := fmt.Sprintf("models[%d].fallbacks[%d]", i, j)
			switch _, ok := c.Model(name); {
			case name == m.Name:
				d.warnf(m.Line, at, "is the model itself, without effect")
			case !ok:
				d.warnf(m.Line, at, "no configured model is named %q, without effect%s", name,
					suggest(name, c.modelNames()))
			case slices.Index(m.Fallbacks, name) < j:
				d.warnf(m.Line, at, "%q stands in the list twice, without effect", name)
			}
		}
	}
}

func (c *Config) modelNames() []string {
	names := make([]string, len(c.Models))
	for i, m := range c.Models {
		names[i] = m.Name
	}
	return names
}

// RateLimitOf is what bounds the key of m: of each number the least that a model with the same address and key says,
// else that of [LLMCall].
func (c *Config) RateLimitOf(m Model) RateLimit {
	limit := m.RateLimit
	for _, o := range c.Models {
		if o.SharesKey(m) {
			limit.RequestsPerMinute = lesser(limit.RequestsPerMinute, o.RateLimit.RequestsPerMinute)
			limit.TokensPerMinute = lesser(limit.TokensPerMinute, o.RateLimit.TokensPerMinute)
			limit.Concurrent = lesser(limit.Concurrent, o.RateLimit.Concurrent)
		}
	}
	if limit == (RateLimit{}) {
		return c.LLMCall.RateLimit
	}
	return limit
}

// SharesKey reports whether two models are called at one address with one key.
func (m Model) SharesKey(o Model) bool {
	return m.BaseURL == o.BaseURL && m.Key == o.Key && m.Script == o.Script
}

// lesser is the smaller of two numbers of which 0 is none.
func lesser(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
