package rawjson

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scanned are values for the fuzzers below, good and bad.
var scanned = []string{
	`{}`, `[]`, ` { "a" : [ 1 , {"b":"]}"} ] , "c":null , "d":true,"e":false} `, `"a\"\\\/\b\f\n\r\t\u12aB"`,
	"\"\xff\xc3\"", `-0.5e+10`, `0`, `1E2`, `[[],{}]`, ``, ` `, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`,
	`{,}`, `{"a" 1}`, `{"a":1 "b":2}`, `{}}`, `{} x`, "{}\x00", `[`, `[1`, `[1,`, `[,]`, `[1,]`, `[1 2]`, `[}`, `01`,
	`-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `nul`, `nullx`, `truefalse`, `"\x"`, `"\u12g4"`, `"\`, `"\u12`, "\"\n\"", `"`,
	`{"":{}}`, `{1:2}`,
}

// FuzzScanner: a value passes just where encoding/json finds valid JSON, and comes back as it is written.
func FuzzScanner(f *testing.F) {
	for _, s := range scanned {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s := Scan([]byte(in))
		got := string(s.Value())
		if end, valid := s.End(), json.Valid([]byte(in)); end != valid {
			t.Fatalf("%q: read %t, valid %t", in, end, valid)
		} else if valid && got != strings.Trim(in, " \t\r\n") {
			t.Errorf("%q: the value is %q", in, got)
		}
	})
}

func TestValid(t *testing.T) {
	for _, in := range scanned {
		if got, want := Valid([]byte(in)), json.Valid([]byte(in)); got != want {
			t.Errorf("%q: %t, want %t", in, got, want)
		}
	}
}

// walk takes a value apart and makes of it what encoding/json would.
func walk(s *Scanner, depth int) any {
	switch s.Peek() {
	case '"':
		return s.Text()
	case '{':
		m := map[string]any{}
		for name := s.Object(); name != nil; name = s.Next() {
			key, _ := String([]byte(`"` + string(name) + `"`))
			m[key] = walk(s, depth+1)
		}
		return m
	case '[':
		list := []any{}
		for more := s.List(); more; more = s.More() {
			list = append(list, walk(s, depth+1))
		}
		return list
	}
	var v any
	_ = json.Unmarshal(s.Value(), &v)
	return v
}

// FuzzScannerWalk: members, elements, texts and the rest are those that encoding/json finds. On anything it ends.
func FuzzScannerWalk(f *testing.F) {
	for _, s := range scanned {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s := Scan([]byte(in))
		got := walk(&s, 0)
		if end, valid := s.End(), json.Valid([]byte(in)); end != valid {
			t.Fatalf("%q: read %t, valid %t", in, end, valid)
		} else if !valid {
			return
		}
		var want any
		if json.Unmarshal([]byte(in), &want) != nil {
			return // a number too large for a float
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	})
}

func TestScannerInt(t *testing.T) {
	for in, want := range map[string]int{`0`: 0, "7": 7, `999999999`: 999999999} {
		s := Scan([]byte(in))
		if got := s.Int(); got != want || !s.End() {
			t.Errorf("%q: %d", in, got)
		}
	}
	for _, in := range []string{`1000000000`, `-1`, `1.0`, `1e2`, `01`, `"1"`, `null`, ``, `99999999999999999999999`} {
		s := Scan([]byte(in))
		if s.Int(); s.End() {
			t.Errorf("%q was read", in)
		}
	}
}

func TestScannerRefusesOtherKinds(t *testing.T) {
	for name, read := range map[string]func(*Scanner){
		"Object": func(s *Scanner) { s.Object() }, "List": func(s *Scanner) { s.List() },
		"Text": func(s *Scanner) { s.Text() }, "Null": func(s *Scanner) { s.Null() },
		"Int": func(s *Scanner) { s.Int() },
	} {
		for _, in := range []string{`true`, `-1.5`, ``, `x`} {
			s := Scan([]byte(in))
			if read(&s); s.End() {
				t.Errorf("%s read %q", name, in)
			}
		}
	}
}

func TestScannerBoundsDepth(t *testing.T) {
	for depth, want := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		in := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		s := Scan(in)
		if s.Value(); s.End() != want || json.Valid(in) != want {
			t.Errorf("depth %d: read %t, want %t", depth, s.End(), want)
		}
	}
}

func TestUnmarshalForgivesTypes(t *testing.T) {
	var got struct {
		A int
		B string
	}
	if err := Unmarshal([]byte(`{"a":"x","b":"y"}`), &got); err != nil || got.B != "y" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := Unmarshal([]byte(`{"a":`), &got); err == nil {
		t.Error("what is no JSON was forgiven")
	}
}

func TestIsNull(t *testing.T) {
	for raw, want := range map[string]bool{``: true, `null`: true, `0`: false, `""`: false} {
		if IsNull([]byte(raw)) != want {
			t.Errorf("IsNull(%s) = %t", raw, !want)
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	in := []byte(`{"candidates":[{"content":{"parts":[{"text":" token"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":1200,"candidatesTokenCount":20,"totalTokenCount":1220,"promptTokensDetails":[{"modality":"TEXT","tokenCount":1200}]},"modelVersion":"test-model-1","responseId":"resp_1"}`)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		s := Scan(in)
		if s.Value(); !s.End() {
			b.Fatal("not read")
		}
	}
}

func BenchmarkValid(b *testing.B) {
	in := []byte(`{"candidates":[{"content":{"parts":[{"text":" token"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":1200,"candidatesTokenCount":20,"totalTokenCount":1220,"promptTokensDetails":[{"modality":"TEXT","tokenCount":1200}]},"modelVersion":"test-model-1","responseId":"resp_1"}`)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if !json.Valid(in) {
			b.Fatal()
		}
	}
}
