package tool

import (
	"cmp"
	"strconv"
	"strings"
)

// decimal is the exact value of a JSON number, 0.DIGITS × 10^exp. Zero has no digits. Unlike a float it loses
// nothing, and unlike a big.Rat it stays small when a model writes 1e999999999.
type decimal struct {
	neg    bool
	digits string // neither starts nor ends with 0
	exp    int
}

// maxExponent is where exponents saturate; no two numbers that fit in memory are told apart beyond it.
const maxExponent = 1 << 40

// parseDecimal reads a number that is known to follow JSON's grammar.
func parseDecimal(text string) decimal {
	var d decimal
	text, d.neg = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		d.exp = parseExponent(text[i+1:])
		text = text[:i]
	}
	whole, frac, _ := strings.Cut(text, ".")
	d.digits = whole
	if frac != "" {
		d.digits = whole + frac
	}
	d.exp += len(whole)
	significant := strings.TrimLeft(d.digits, "0")
	d.exp -= len(d.digits) - len(significant)
	d.digits = strings.TrimRight(significant, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func parseExponent(text string) int {
	n, err := strconv.Atoi(text)
	if err == nil && -maxExponent < n && n < maxExponent {
		return n
	}
	if text[0] == '-' {
		return -maxExponent
	}
	return maxExponent
}

// integral reports whether d has no fraction.
func (d decimal) integral() bool { return len(d.digits) <= max(d.exp, 0) }

// compare orders two numbers: -1, 0 or 1.
func (d decimal) compare(e decimal) int {
	if d.sign() != e.sign() {
		return cmp.Compare(d.sign(), e.sign())
	}
	c := cmp.Compare(d.exp, e.exp)
	if c == 0 {
		c = strings.Compare(d.digits, e.digits)
	}
	return c * d.sign()
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// maxPlainDigits bounds the integers that are written out; longer ones fit no integer type.
const maxPlainDigits = 30

// plain writes an integral number without point and exponent. It is false for a number that is not integral, or that
// has too many digits to be an index, a count or an id.
func (d decimal) plain() (string, bool) {
	if !d.integral() || d.exp > maxPlainDigits {
		return "", false
	}
	if d.digits == "" {
		return "0", true
	}
	text := d.digits + strings.Repeat("0", d.exp-len(d.digits))
	if d.neg {
		text = "-" + text
	}
	return text, true
}
