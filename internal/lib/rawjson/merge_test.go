package rawjson

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type fields = map[string]json.RawMessage

func TestMerge(t *testing.T) {
	for _, tt := range []struct{ name, base, over, want, stacked string }{
		{"new fields", `{"b":1}`, `{"a": [ 1 ]}`, `{"a":[ 1 ],"b":1}`, ""},
		{"another value", `{"a":{"x":1}}`, `{"a":"s"}`, `{"a":"s"}`, ""},
		{"an object over none", `{"a":1}`, `{"a":{ "x" : null }}`, `{"a":{ "x" : null }}`, ""},
		{"members, at any depth", `{"a":{"z":{"b":1,"a":2},"y":0}}`, `{"a":{"z":{"a":1.0e0}}}`,
			`{"a":{"y":0,"z":{"a":1.0e0,"b":1}}}`, ""},
		{"null takes away", `{"a":1,"b":{"c":1,"d":2}}`, `{"a":null,"b":{"c":null,"e":null},"f":null}`, `{"b":{"d":2}}`,
			`{"a":null,"b":{"c":null,"d":2,"e":null},"f":null}`},
		{"lists are not merged", `{"a":[1]}`, `{"a":[2]}`, `{"a":[2]}`, ""},
		{"nothing", `{}`, `{}`, `{}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := Members([]byte(tt.base))
			over, _ := Members([]byte(tt.over))
			if got := string(FromMembers(Merge(base, over))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if tt.stacked == "" {
				tt.stacked = tt.want
			}
			if got := string(FromMembers(Stack(base, over))); got != tt.stacked {
				t.Errorf("stacked: got %s, want %s", got, tt.stacked)
			}
		})
	}
	base := fields{"a": []byte("1"), "b": []byte(`{"c":1}`)}
	if got := Merge(base, fields{"a": []byte("null"), "b": []byte(`{"c":2}`)}); len(got) != 1 || len(base) != 2 ||
		string(base["b"]) != `{"c":1}` {
		t.Errorf("%s changed into %s", base, got)
	}
	if got := Merge(nil, fields{"a": []byte("1")}); len(got) != 1 {
		t.Errorf("over nothing: %v", got)
	}
	if got := string(MergeValue([]byte(`{"b":1}`), []byte(`{"a":null}`))); got != `{"b":1}` {
		t.Errorf("one value: %s", got)
	}
}

func TestFromMembersLeavesOutWhatIsEmpty(t *testing.T) {
	if got := string(FromMembers(fields{"a": nil, "b\"": []byte("{ }"),
		"c": []byte("1")})); got != `{"b\"":{ },"c":1}` {
		t.Error(got)
	}
}

// merged is the meaning of Merge, over values that encoding/json made.
func merged(base, over any) any {
	b, isBase := base.(map[string]any)
	o, isOver := over.(map[string]any)
	if !isBase || !isOver {
		return over
	}
	out := maps.Clone(b)
	for name, value := range o {
		if out[name] = merged(b[name], value); value == nil {
			delete(out, name)
		}
	}
	return out
}

// FuzzMerge compares with the meaning, and demands that neither side changes.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1,"c":{"d":[1]}},"e":2}`), []byte(`{"a":{"c":{"d":null,"x":{"y":null}}},"e":null}`))
	f.Add([]byte(`{"a":{},"a\u0062":1}`), []byte(`{"ab":{},"a":{"\ud800":0}}`))
	f.Fuzz(func(t *testing.T, rawBase, rawOver []byte) {
		var base, over any
		if json.Unmarshal(rawBase, &base) != nil || json.Unmarshal(rawOver, &over) != nil {
			return
		}
		members, isBase := Members(rawBase)
		added, isOver := Members(rawOver)
		if !isBase || !isOver {
			return
		}
		beforeBase, beforeOver := bytes.Clone(rawBase), bytes.Clone(rawOver)
		got := FromMembers(Merge(members, added))
		var value any
		if err := json.Unmarshal(got, &value); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if d := cmp.Diff(merged(base, over), value); d != "" {
			t.Errorf("%s over %s: %s", rawOver, rawBase, d)
		}
		if !bytes.Equal(rawBase, beforeBase) || !bytes.Equal(rawOver, beforeOver) {
			t.Error("a side was changed")
		}
	})
}
