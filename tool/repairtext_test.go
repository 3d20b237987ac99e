package tool

import (
	"encoding/json"
	"testing"
)

func TestRepairText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"object", ` {"a": 1} `, `{"a": 1}`},
		{"fence with language", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"fence", "```\n{\"a\":1}\n```\n", `{"a":1}`},
		{"fence on one line", "```{\"a\":1}```", `{"a":1}`},
		{"closing fence alone", "{\"a\":1}\n```", `{"a":1}`},
		{"opening fence alone", "```json\n{\"a\":1}", `{"a":1}`},
		{"stringified", `"{\"a\":\"b\"}"`, `{"a":"b"}`},
		{"stringified in a fence", "```json\n\"{\\\"a\\\":1}\"\n```", `{"a":1}`},
		{"stringified with spaces", `" {\"a\":1}\n"`, `{"a":1}`},

		{"stringified twice", `"\"{}\""`, ``},
		{"cut in a string", `{"command":"echo hello wor`, ``},
		{"cut before the brace", `{"command":"ls"`, ``},
		{"cut in a fence", "```json\n{\"command\":\"ls\"\n```", ``},
		{"stringified and cut", `"{\"a\":1"`, ``},
		{"garbage behind", `{"a":1} and so on`, ``},
		{"brace behind", `{"a":1}}`, ``},
		{"two objects", `{"a":1}{"b":2}`, ``},
		{"text before", `Here: {"a":1}`, ``},
		{"list", `[{"a":1}]`, ``},
		{"single quotes", `{'a':1}`, ``},
		{"trailing comma", `{"a":1,}`, ``},
		{"NaN", `{"a":NaN}`, ``},
		{"number", `5`, ``},
		{"empty", ``, ``},
		{"fences alone", "``````", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := RepairText(tt.in)
			if ok != (tt.want != "") || ok && string(got) != tt.want {
				t.Errorf("RepairText(%q) = %s, %v; want %s", tt.in, got, ok, tt.want)
			}
		})
	}
}

func FuzzRepairText(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n{}\n```", `"{\"a\":1}"`, `{"a":`, `{"a":"\ud800"}`, "```",
		`{"a":1}x`, "\"{\\\"a\\\":1}\"```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := RepairText(s)
		if !ok {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got, &object); err != nil || object == nil {
			t.Fatalf("RepairText(%q) = %q: %v", s, got, err)
		}
		again, ok := RepairText(string(got))
		if !ok || string(again) != string(got) {
			t.Fatalf("RepairText(%q) = %q, then %q, %v", s, got, again, ok)
		}
	})
}
