package tool

import (
	"math/big"
	"strings"
)

// precision, in bits, tells numbers of up to 70 digits apart.
const precision = 256

// parseNumber reads a number that is known to follow JSON's grammar. One that is too large for any machine is infinite.
func parseNumber(text string) *big.Float {
	f, _, err := big.ParseFloat(text, 10, precision, big.ToNearestEven)
	if err == nil {
		return f
	}
	f = new(big.Float)
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e") // which is out of the range
	if !strings.HasPrefix(exponent, "-") && strings.Trim(mantissa, "-0.") != "" {
		f.SetInf(text[0] == '-')
	}
	return f
}

// maxPlainDigits bounds the integers that are written out; longer ones fit no integer type.
const maxPlainDigits = 30

// plainInteger writes an integral number without point and exponent. It is false for a number that is not integral, or
// that has too many digits to be an index, a count or an id.
func plainInteger(f *big.Float) (string, bool) {
	if !f.IsInt() || f.MantExp(nil) > 4*maxPlainDigits {
		return "", false
	}
	text := f.Text('f', 0)
	if f.Sign() == 0 {
		text = "0"
	}
	return text, len(strings.TrimPrefix(text, "-")) <= maxPlainDigits
}

// bound writes a number for a message.
func bound(f *big.Float) string {
	if text, ok := plainInteger(f); ok {
		return text
	}
	return f.Text('g', maxPlainDigits)
}
