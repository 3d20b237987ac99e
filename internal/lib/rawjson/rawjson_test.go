package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestAppendString(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`},
		{"plain <b>&'", `"plain <b>&'"`},
		{"\"\\\n\r\t", `"\"\\\n\r\t"`},
		{"\x00\x1f\x7f", "\"\\u0000\\u001f\x7f\""},
		{"größe 🦌 \u2028", "\"größe 🦌 \u2028\""},
		{"a\xffb\xc3", "\"a\uFFFDb\uFFFD\""},
	}
	for _, tt := range tests {
		if got := string(AppendString(nil, tt.in)); got != tt.want {
			t.Errorf("AppendString(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestObject(t *testing.T) {
	o := Begin([]byte("x="))
	o.String("s", "{")
	o.StringOrNull("none", "")
	o.StringOrNull("some", "v")
	o.OmitEmpty("left out", "")
	o.Int("n", -7)
	o.Raw("raw", json.RawMessage(`{ "a":  1 }`))
	o.Object("obj", map[string]json.RawMessage{"b": json.RawMessage("2"), "a": nil})
	o.Object("empty", nil)
	b, err := o.End()
	if err != nil {
		t.Fatal(err)
	}
	want := `x={"s":"{","none":null,"some":"v","n":-7,"raw":{ "a":  1 },"obj":{"a":null,"b":2},"empty":{}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestObjectNamesTheBadMember(t *testing.T) {
	o := Begin(nil)
	o.Object("outer", map[string]json.RawMessage{"good": json.RawMessage("1"), "bad": json.RawMessage("{")})
	o.Raw("later", json.RawMessage("}"))
	b, err := o.End()
	if b != nil || err == nil || err.Error() != "outer: bad: not valid JSON" {
		t.Errorf("End() = %s, %v", b, err)
	}
}

func TestAppendRawRepairsUTF8(t *testing.T) {
	b, err := AppendRaw(nil, []byte("\"a\xff\""))
	if err != nil || string(b) != "\"a\uFFFD\"" {
		t.Errorf("AppendRaw = %q, %v", b, err)
	}
}

// FuzzRead compares with encoding/json on valid JSON and demands no panic on the rest.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, ` { "a" : [1 , {"b":"]}"}] , "a":null,"\u0041\ud83e\udd8c":"x\\\"y"} `,
		`["\ud800","\ud800\u0041","\udc00\ud800",-1.5e3,true]`, `"a\/b\b\f\n\r\t\u12aB"`, "\"\xff\xc3\"", `{"a"`, `["`,
		`"\`, `"\u12`, `"\"`, `["a\\","\"\\\"b","\\\\"]`, `[,]`, `{"a":}`, `[}`, `"\ud800\u"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		members, isObject := Members([]byte(s))
		elements, isArray := Elements([]byte(s))
		text, isString := String([]byte(strings.Trim(s, " \n\r\t")))
		if value, rest := Value([]byte(s)); string(value)+string(rest) != s {
			t.Fatalf("%q was cut into %q and %q", s, value, rest)
		}
		if !json.Valid([]byte(s)) {
			return
		}
		var wantMembers map[string]json.RawMessage
		var wantElements []json.RawMessage
		var wantText *string
		gotErr := [3]bool{!isObject, !isArray, !isString}
		wantErr := [3]bool{
			json.Unmarshal([]byte(s), &wantMembers) != nil || wantMembers == nil,
			json.Unmarshal([]byte(s), &wantElements) != nil || wantElements == nil,
			json.Unmarshal([]byte(s), &wantText) != nil || wantText == nil,
		}
		if gotErr != wantErr {
			t.Fatalf("object, array, string refused: %v, encoding/json: %v", gotErr, wantErr)
		}
		if d := cmp.Diff(wantMembers, members); isObject && d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(wantElements, elements); isArray && d != "" {
			t.Error(d)
		}
		start := strings.TrimLeft(s, " \n\r\t")
		value, rest := Value([]byte(start + ",7"))
		if got, want := string(value), strings.TrimRight(start, " \n\r\t"); got != want || string(value)+
			string(rest) != start+",7" {
			t.Errorf("value %q, want %q; rest %q", got, want, rest)
		}
		if isString && text != *wantText {
			t.Errorf("text %q, want %q", text, *wantText)
		}
	})
}

// FuzzAppendString demands that encoding/json reads back what was written.
func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\x00\x1f\xff\xf0\x9f\u2028🦌")
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(b, &got); err != nil || !utf8.Valid(b) {
			t.Fatalf("%q: %v", b, err)
		}
		if want := string([]rune(s)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestKind(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: "a string", `{}`: "an object", `[]`: "a list", `true`: "a boolean", `false`: "a boolean",
		`null`: "null", `-1`: "a number", ``: "nothing",
	} {
		if got := Kind([]byte(raw)); got != want {
			t.Errorf("Kind(%s) = %q, want %q", raw, got, want)
		}
	}
}
