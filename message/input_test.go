package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeInput(t *testing.T) {
	hi := New(Human, "hi")
	tests := []struct {
		name, in string
		want     []Message
	}{
		{"one object", ` {"type":"human","content":"hi"} `, []Message{hi}},
		{"one string", `"hi"`, []Message{hi}},
		{"list", `[{"role":"user","content":"hi"},"hi",["ai",["x"]],["user","hi"]]`,
			[]Message{hi, hi, {Role: AI, List: true, Content: []Part{Text("x")}}, hi}},
		{"two strings", `["hi","hi"]`, []Message{hi, hi}},
		{"a pair alone", `["human","hi"]`, []Message{hi}},
		{"empty list", `[]`, []Message{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeInput([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestDecodeInputErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"null", ` null`, "null is no message; send a message or a list of messages"},
		{"number", `1`, "must be an object, a string or a pair of role and content, not a number"},
		{"null in a list", `["a",null]`, "[1]: must be an object, a string or a pair"},
		{"bad message in a list", `["a","b",{"type":"human","content":[{"type":"text","text":1}]}]`,
			"[2]: content: [0]: text: must be a string, not a number"},
		{"triple", `[["human","a","b"]]`, "[0]: a pair has a role and a content, not 3 entries"},
		{"pair of unknown role", `[["nobody","a"]]`, `[0]: role "nobody" is unknown`},
		{"pair of a tool", `[["tool","a"]]`, "[0]: a tool message cannot be a pair"},
		{"broken", `[`, "unexpected end"},
		{"empty", ``, "unexpected end"},
		{"too many", `[0` + strings.Repeat(",0", maxParts) + `]`, "more than 10000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeInput([]byte(tt.in))
			if got != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

func FuzzDecodeInput(f *testing.F) {
	for _, s := range []string{`null`, `"a"`, `["human","a"]`,
		`[["ai",[{"type":"image","url":"u"}]],"a",{"role":"user","content":""}]`, `[[],[1,2],{}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		msgs, err := DecodeInput(raw)
		if err != nil {
			return
		}
		for _, m := range msgs {
			if d := cmp.Diff(m, decode(t, encode(t, m))); d != "" {
				t.Errorf("does not survive:\n%s", d)
			}
		}
	})
}
