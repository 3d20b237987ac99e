package tokenbudget

import (
	"fmt"
	"strconv"
	"strings"
)

// limit is one bound and what is used of it.
type limit struct {
	used, most float64
	unit       string
	money      bool
}

// limits are the bounds that there are.
func (m *Middleware) limits(s spending) []limit {
	list := []limit{
		{float64(s.Usage.TotalTokens), float64(m.cfg.MaxTokens), "tokens", false},
		{float64(s.Usage.InputTokens), float64(m.cfg.MaxInput), "input tokens", false},
		{float64(s.Usage.OutputTokens), float64(m.cfg.MaxOutput), "output tokens", false},
		{s.Cost, m.cfg.MaxCost, m.currency(), true},
	}
	n := 0
	for _, l := range list {
		if l.most > 0 {
			list[n] = l
			n++
		}
	}
	return list[:n]
}

// over reports whether the share of any limit is used.
func (m *Middleware) over(s spending, share float64) bool {
	for _, l := range m.limits(s) {
		if l.used >= l.most*share {
			return true
		}
	}
	return false
}

// numbers says what is used of each limit.
func (m *Middleware) numbers(s spending) string {
	limits := m.limits(s)
	words := make([]string, len(limits))
	for i, l := range limits {
		words[i] = fmt.Sprintf("%s of %s %s (%.0f %%)", l.amount(l.used), l.amount(l.most), l.unit, 100*l.used/l.most)
	}
	return strings.Join(words, ", ")
}

func (l limit) amount(f float64) string {
	if l.money {
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	s := strconv.Itoa(int(f))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
