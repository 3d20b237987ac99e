package route

import (
	"encoding/json"
	"reflect"
	"testing"
)

// partly has a field that no JSON has.
type partly struct {
	Name string      `json:"name"`
	Done chan string `json:"done"`
}

// again is a type whose description would have no end.
type again struct {
	Next *again `json:"next"`
}

// TestTheDescriptionOfAType is that of its JSON; of one that cannot be described it says nothing, and the others stay.
func TestTheDescriptionOfAType(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		`{"type":"string"}`: reflect.TypeFor[string](),
		`true`:              reflect.TypeFor[again](),
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`: reflect.TypeFor[partly](),
		`{"type":["null","array"],"items":{"type":"integer"}}`:                                                       reflect.TypeFor[Page[int]](),
	} {
		got, err := json.Marshal(schemaOf(typ))
		if err != nil || string(got) != want {
			t.Errorf("%v is described as %s, %v, want %s", typ, got, err, want)
		}
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Status](), reflect.TypeFor[Filter](), reflect.TypeFor[any](),
		reflect.TypeFor[json.RawMessage](), reflect.TypeFor[chan int](),
	} {
		if got, err := json.Marshal(schemaOf(typ)); err != nil || string(got) != "true" {
			t.Errorf("%v is described as %s, %v", typ, got, err)
		}
	}
}
