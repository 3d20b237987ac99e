package database

import (
	"encoding/json"
	"math/big"
	"testing"
)

func TestSameJSON(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`1`, `true`, false}, {`1`, `"1"`, false}, {`-0`, `0.00e5`, true}, {`-1`, `1`, false},
		{`120e-1`, `12`, true}, {`1e2`, `100`, true}, {`1E+2`, `100.0`, true}, {`0.001`, `1e-3`, true},
		{`1e400`, `10e399`, true}, {`1e400`, `1e401`, false}, {`9007199254740993`, `9007199254740992`, false},
		{`1e99999999999`, `1e99999999999`, true}, {`1e99999999999`, `10e99999999998`, false}, {`"a"`, `"\u0061"`, true},
		{`"é"`, `"e\u0301"`, false}, {`null`, `null`, true}, {`null`, `false`, false}, {`true`, `false`, false},
		{`{"a":1,"b":[1,2]}`, `{ "b" : [1.0, 2], "a":1e0}`, true}, {`{"a":1}`, `{"a":1,"b":null}`, false},
		{`[1,2]`, `[2,1]`, false}, {`[]`, `{}`, false}, {`{"a":1,"a":2}`, `{"a":2}`, true}, {` 1 `, `1`, true},
		{``, `1`, false},
	} {
		if got := sameJSON([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("sameJSON(%s, %s) = %v", tt.a, tt.b, got)
		}
		if got := sameJSON([]byte(tt.b), []byte(tt.a)); got != tt.want {
			t.Errorf("sameJSON(%s, %s) = %v", tt.b, tt.a, got)
		}
	}
}

// What a signature was made of stands in databases: it may not become another.
func TestSignatureStays(t *testing.T) {
	for object, want := range map[string]int64{
		`{}`:                       0,
		`{"a":{},"b":[]}`:          0,
		`{"graph_id":"lead"}`:      0x100000800004,
		`{"n":-1.50,"ä":null}`:     0x86000001102,
		`{"deerflow_pinned":true}`: 0x1000000042000000,
	} {
		if got := Signature([]byte(object)); got != want {
			t.Errorf("signature of %s = %#x, want %#x", object, got, want)
		}
	}
}

// Numbers are the same if they have the same value, and what is the same has the same signature.
func FuzzSameJSON(f *testing.F) {
	for _, seed := range [][2]string{{`1`, `1.0`}, {`"a"`, `"\u0061"`}, {`10e-1`, `0.1E1`}, {`null`, `0`},
		{`{"a":[1]}`, `{"a":[1.0]}`}, {`"\ud800"`, `"\ufffd"`}} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if !json.Valid(a) || !json.Valid(b) || len(a)+len(b) > 200 {
			return
		}
		same := sameJSON(a, b)
		if !sameJSON(a, a) || same != sameJSON(b, a) {
			t.Errorf("%q and %q are not treated alike", a, b)
		}
		if same && (member{"k", a}).signature() != (member{"k", b}).signature() {
			t.Errorf("%q and %q differ in their signatures", a, b)
		}
		x, okX := exactly(a)
		y, okY := exactly(b)
		if okX && okY && same != (x.Cmp(y) == 0) {
			t.Errorf("%s = %s is %v", a, b, same)
		}
	})
}

// exactly is the value of a number that is not too large for it.
func exactly(raw []byte) (*big.Rat, bool) {
	var n json.Number
	if raw[0] == '"' || json.Unmarshal(raw, &n) != nil || n == "" {
		return nil, false
	}
	if d := decimalOf([]byte(n)); d.exp > 1000 || d.exp < -1000 || len(d.digits) > 100 {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}
