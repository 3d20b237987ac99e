package tool

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecodeAsFromBytes compares decoding, which takes the value that the check has read, with reading it again.
func TestDecodeAsFromBytes(t *testing.T) {
	s, err := tell[everything](t, Spec{}).Spec().Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		`{"description":"d","path":"p","Plain":[]}`,
		" \n{ \"description\" : \"d\", \"path\": \"p\", \"Plain\": [ \"a\" ] }\t",
		`{"description":"d","path":"p","Plain":["a"],"limit":"7","force":"true"}`,
		`{"description":"d","path":"p","Plain":"a","limit":5.0,"level":null}`,
		`{"description":"d","path":"p","PATH":"other","plain":["b"],"Plain":[],"edits":[{"old":"x","OLD":"y"}]}`,
		`{"description":"d","path":"p","path":"q","Plain":[],"any":{"a":[1,2.50]},"env":{"A":"b"},"unknown":1}`,
		`"{\"description\":\"d\",\"path\":\"p\",\"Plain\":[]}"`,
		`{"path":1}`, `[]`, `{`, ``, `null`,
	} {
		call := &Call{Args: json.RawMessage(args)}
		want, errWant := decodeBytes(s, call.Args)
		same := func(how string) {
			got, errGot := decode[everything](s, call.Args)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{}, mixin{})); diff != "" ||
				text(errGot) != text(errWant) {
				t.Errorf("%s, %s: %v, not %v\n%s", args, how, errGot, errWant, diff)
			}
		}
		same("nobody has looked at them")
		if err := call.Check(s); text(err) != text(errWant) {
			t.Errorf("%s: Call.Check: %v, not %v", args, err, errWant)
		}
		same("checked before")
		call.Args = json.RawMessage(args)
		same("put back as they were")
	}
}

// A tool trusts no check of others: other arguments may have taken the place of those, and it has a schema of its own.
func TestCheckedArgumentsAreThose(t *testing.T) {
	numbers, names := mustParse(t, `{"type":"object","properties":{"x":{"type":"integer"}}}`),
		mustParse(t, `{"type":"object","required":["name"]}`)
	call := &Call{Args: json.RawMessage(`{"x":1}`)}
	if err := call.Check(numbers); err != nil {
		t.Fatal(err)
	}
	if _, err := decode[json.RawMessage](names, call.Args); err == nil {
		t.Error("they fit one schema, and passed for another")
	}
	call.Args = json.RawMessage(`{"x":[]}`)
	if _, err := decode[json.RawMessage](numbers, call.Args); err == nil {
		t.Error("others took their place, and were not checked")
	}
	if err := call.Check(numbers); err == nil || string(call.Args) != `{"x":[]}` {
		t.Errorf("a check that fails: %v, %s", err, call.Args)
	}
}

// decodeBytes is decode the long way: each part of it begins with the bytes.
func decodeBytes(s *Schema, args json.RawMessage) (in everything, err error) {
	if args, err = s.Check(args); err != nil {
		return in, err
	}
	v, err := parseArgs(args)
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(s.prepare(&v).raw, &in)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMustParseReadsOnce(t *testing.T) {
	spec := MustParse(Spec{Parameters: json.RawMessage(` {"type":"object","properties":{"path":{"type":"string"}}}`)})
	first, errFirst := tell[json.RawMessage](t, spec).Spec().Schema()
	second, errSecond := tell[json.RawMessage](t, spec).Spec().Schema()
	if first != second || first == nil || errFirst != nil || errSecond != nil {
		t.Errorf("two tools of one spec have the schemas %p and %p: %v, %v", first, second, errFirst, errSecond)
	}
	spec.Parameters = json.RawMessage(`{"type":"object"}`)
	if other, err := tell[json.RawMessage](t, spec).Spec().Schema(); other == first || err != nil {
		t.Errorf("a spec whose parameters were changed keeps the schema of the old ones: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a schema that is none did not panic")
		}
	}()
	MustParse(Spec{Parameters: json.RawMessage(`{`)})
}

// BenchmarkDecode checks the arguments of a call and decodes them, as the loop and the tool do.
func BenchmarkDecode(b *testing.B) {
	type lsArgs struct {
		Description string `json:"description" doc:"Why you list it, in a few words."`
		Path        string `json:"path" doc:"Absolute path of the directory."`
	}
	s, err := schemaOf(reflect.TypeFor[lsArgs]())
	if err != nil {
		b.Fatal(err)
	}
	call := &Call{Args: json.RawMessage(`{"description":"See what is there","path":"/mnt/user-data/workspace"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if err := call.Check(s); err != nil {
			b.Fatal(err)
		}
		if _, err := decode[lsArgs](s, call.Args); err != nil {
			b.Fatal(err)
		}
	}
}
