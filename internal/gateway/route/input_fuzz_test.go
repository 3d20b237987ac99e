package route

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// FuzzBody: a body is let through at a glance just where the search for a fault finds none, and has the members that
// encoding/json reads.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1,"a":{"b":[null,"\u0041\ud800"]},"\u0061":2}`, ` {"a" : [ 1.50e3 , true ] } `, `[]`, `"x"`,
		`{"a":}`, `{"a":1}}`, `{"a":1} x`, `[1e700]`, `[1e300,-0]`, `{`, ``, `nul`,
		strings.Repeat(`[`, maxDepth) + strings.Repeat(`]`, maxDepth), strings.Repeat(`[`, maxDepth+1) +
			strings.Repeat(`]`, maxDepth+1), strings.Repeat(`{"a":`, maxDepth) + "1" + strings.Repeat(`}`, maxDepth),
		strings.Repeat(`{"a":`, maxDepth) + "{}" + strings.Repeat(`}`, maxDepth),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		raw := []byte(strings.TrimSpace(body))
		if !utf8.Valid(raw) || len(raw) == 0 {
			return
		}
		offset, err := findFault(raw)
		s := rawjson.Scan(raw)
		if glance := passes(&s, maxDepth) && s.End(); glance != (err == nil) {
			t.Fatalf("%s: let through %t, but the fault is %v at %d", raw, glance, err, offset)
		}
		if err != nil || raw[0] != '{' {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if got, _ := rawjson.Members(raw); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the members are %s, not %s", raw, got, want)
		}
	})
}
