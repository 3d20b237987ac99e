package route

import (
	"encoding/json"
	"reflect"
	"testing"
)

// again is a type whose description would have no end.
type again struct {
	Next *again `json:"next"`
}

// TestTheDescriptionOfAType is that of its JSON; of one that cannot be described it says nothing, and the others stay.
func TestTheDescriptionOfAType(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		`{"type":"string"}`: reflect.TypeFor[string](),
		`true`:              reflect.TypeFor[again](),
		`{"type":["null","array"],"items":{"type":"integer"}}`: reflect.TypeFor[Page[int]](),
	} {
		got, err := json.Marshal(schemaOf(typ))
		if err != nil || string(got) != want {
			t.Errorf("%v is described as %s, %v, want %s", typ, got, err, want)
		}
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Status](), reflect.TypeFor[Filter](), reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[chan int](),
	} {
		if got, err := json.Marshal(schemaOf(typ)); err != nil || string(got) != "true" {
			t.Errorf("%v is described as %s, %v", typ, got, err)
		}
	}
}
