package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzValid compares with encoding/json.
func FuzzValid(f *testing.F) {
	for _, s := range scanned {
		f.Add(s)
	}
	for _, n := range []int{maxDepth, maxDepth + 1} {
		f.Add(strings.Repeat("[", n) + strings.Repeat("]", n))
		f.Add(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n))
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got, want := Valid([]byte(in)), json.Valid([]byte(in)); got != want {
			t.Errorf("%q: %t, want %t", in, got, want)
		}
	})
}

func BenchmarkValidKinds(b *testing.B) {
	for name, data := range map[string]string{
		"word":      `"stop"`,
		"arguments": `{"description": "look, step 1", "path": "/mnt/user-data/workspace"}`,
		"message": `{"content":"` + strings.Repeat("It says \\\"no\\\" to it.\\n", 40) +
			`","additional_kwargs":{"a":{"version":1,"kind":"tool_batch","ids":["call_1"],"x":null,"y":true}},` +
			`"type":"ai","id":"0b8f4a4e-0000-4000-8000-000000000001","usage_metadata":{"input_tokens":1200,"output_tokens":20,"total_tokens":1220}}`,
	} {
		b.Run(name, func(b *testing.B) {
			raw := []byte(data)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if !Valid(raw) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
