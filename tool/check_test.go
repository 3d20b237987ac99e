package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func mustParse(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := ParseSchema(json.RawMessage(schema))
	if err != nil {
		t.Fatalf("ParseSchema(%s): %v", schema, err)
	}
	return s
}

// prop makes the schema of an object with one optional property x.
func prop(schema string) string {
	return `{"type":"object","properties":{"x":` + schema + `}}`
}

func TestCheckRepairs(t *testing.T) {
	tests := []struct{ name, schema, args, want string }{
		{"valid bytes stay", prop(`{"type":"integer"}`), ` { "x" : 5 , "y":1.50}`, ` { "x" : 5 , "y":1.50}`},
		{"no input", ``, ``, `{}`},
		{"null input", ``, ` null `, `{}`},
		{"object as a string", prop(`{"type":"integer"}`), `"{\"x\":\"7\"}"`, `{"x":7}`},

		{"string to integer", prop(`{"type":"integer"}`), `{"x":"5"}`, `{"x":5}`},
		{"string with spaces to integer", prop(`{"type":"integer"}`), `{"x":" -5 "}`, `{"x":-5}`},
		{"string with fraction zero to integer", prop(`{"type":"integer"}`), `{"x":"5.0"}`, `{"x":5}`},
		{"string to number", prop(`{"type":"number"}`), `{"x":"0.5"}`, `{"x":0.5}`},
		{"string keeps all digits", prop(`{"type":"number"}`), `{"x":"0.12345678901234567890"}`,
			`{"x":0.12345678901234567890}`},
		{"fraction zero to integer", prop(`{"type":"integer"}`), `{"x":5.0}`, `{"x":5}`},
		{"exponent to integer", prop(`{"type":"integer"}`), `{"x":12e2}`, `{"x":1200}`},
		{"negative zero to integer", prop(`{"type":"integer"}`), `{"x":-0}`, `{"x":0}`},
		{"number stays 5.0", prop(`{"type":"number"}`), `{"x":5.0}`, `{"x":5.0}`},
		{"integer or number stays 5.0", prop(`{"type":["integer","number"]}`), `{"x":5.0}`, `{"x":5.0}`},
		{"big integer keeps its digits", prop(`{"type":"integer"}`), `{"x":9007199254740993}`,
			`{"x":9007199254740993}`},
		{"huge exponent is left", prop(`{"type":"integer"}`), `{"x":1e400}`, `{"x":1e400}`},
		{"string to true", prop(`{"type":"boolean"}`), `{"x":"true"}`, `{"x":true}`},
		{"string to false", prop(`{"type":"boolean"}`), `{"x":"false"}`, `{"x":false}`},
		{"integer to string", prop(`{"type":"string"}`), `{"x":5}`, `{"x":"5"}`},
		{"number keeps its text as string", prop(`{"type":"string"}`), `{"x":1.50}`, `{"x":"1.50"}`},
		{"boolean to string", prop(`{"type":"string"}`), `{"x":true}`, `{"x":"true"}`},
		{"integer to nullable string", prop(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), `{"x":5}`, `{"x":"5"}`},
		{"integer stays where string or integer is wanted", prop(`{"type":["string","integer"]}`), `{"x":5}`,
			`{"x":5}`},
		{"string stays where string or integer is wanted", prop(`{"type":["string","integer"]}`), `{"x":"5"}`,
			`{"x":"5"}`},
		{"string to nullable integer", prop(`{"anyOf":[{"type":"integer"},{"type":"null"}]}`), `{"x":"5"}`, `{"x":5}`},
		{"string to enum number", prop(`{"enum":[1,2]}`), `{"x":"2"}`, `{"x":2}`},
		{"number to enum string", prop(`{"enum":["1","2"]}`), `{"x":2}`, `{"x":"2"}`},

		{"list as a string", prop(`{"type":"array","items":{"type":"string"}}`), `{"x":"[\"a\",\"b\"]"}`,
			`{"x":["a","b"]}`},
		{"list of anything as a string", prop(`{"type":"array"}`), `{"x":"[1,{}]"}`, `{"x":[1,{}]}`},
		{"object in an object as a string", prop(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
			`{"x":"{\"n\":\"1\"}"}`, `{"x":{"n":1}}`},
		{"items of a list", prop(`{"type":"array","items":{"type":"integer"}}`), `{"x":[1,"2",3.0]}`, `{"x":[1,2,3]}`},
		{"one string to a list", prop(`{"type":"array","items":{"type":"string"}}`), `{"x":"a,b"}`, `{"x":["a,b"]}`},
		{"one number to a list of strings", prop(`{"type":"array","items":{"type":"string"}}`), `{"x":5}`,
			`{"x":["5"]}`},
		{"one string to a list of integers", prop(`{"type":"array","items":{"type":"integer"}}`), `{"x":"5"}`,
			`{"x":[5]}`},
		{"one string to a nullable list",
			prop(`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}`), `{"x":"a"}`, `{"x":["a"]}`},
		{"one string to a list by $ref",
			`{"$defs":{"l":{"type":"array","items":{"type":"string"}}},"properties":{"x":{"$ref":"#/$defs/l"}}}`,
			`{"x":"a"}`, `{"x":["a"]}`},

		{"null of an optional property", prop(`{"type":"integer"}`), `{"a":1,"x":null,"b":2}`, `{"a":1,"b":2}`},
		{"null that fits", prop(`{"type":["integer","null"]}`), `{"x":null}`, `{"x":null}`},
		{"null of an unknown property", prop(`{"type":"integer"}`), `{"y":null}`, `{"y":null}`},
		{"null of an optional list", prop(`{"type":"array","items":{"type":"string"}}`), `{"x":null}`, `{}`},

		{"order and unknown bytes are kept", prop(`{"type":"integer"}`), `{"z": [1, 2.50] ,"x":"1","a":"\u00e9<"}`,
			`{"z":[1, 2.50],"x":1,"a":"\u00e9<"}`},
		{"last of a name counts", prop(`{"type":"integer"}`), `{"x":"bad","y":1,"x":"3"}`, `{"x":3,"y":1}`},
		{"definitions", `{"definitions":{"n":{"type":"integer"}},"properties":{"x":{"$ref":"#/definitions/n"}}}`,
			`{"x":"1"}`, `{"x":1}`},
		{"allOf", prop(`{"allOf":[{"type":["integer","string"]},{"type":["integer","boolean"]}]}`), `{"x":"1"}`,
			`{"x":1}`},
		{"the one choice that a repair makes fit", prop(`{"anyOf":[
			{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}},
			{"type":"object","required":["b"],"properties":{"b":{"type":"integer"}}}]}`), `{"x":{"b":"1"}}`, `{"x":{"b":1}}`},
		{"a repair that makes another one certain", `{"type":"object",
			"anyOf":[{"properties":{"a":{"type":"integer"},"n":{"type":"integer"}}},
				{"properties":{"a":{"type":"array","items":{"type":"integer"}},"n":{"type":"integer"}}}],
			"oneOf":[{"properties":{"a":{"type":"integer"}}}]}`, `{"a":"1","n":5.0}`, `{"a":1,"n":5}`},
		{"additional properties", `{"type":"object","additionalProperties":{"type":"integer"}}`, `{"k":"1"}`,
			`{"k":1}`},
		{"recursive",
			`{"$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`,
			`{"v":"1","next":{"v":"2","next":{"v":3}}}`, `{"v":1,"next":{"v":2,"next":{"v":3}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, tt.schema)
			got, err := s.Check(json.RawMessage(tt.args))
			if err != nil || string(got) != tt.want {
				t.Fatalf("Check(%s) = %s, %v; want %s", tt.args, got, err, tt.want)
			}
			again, err := s.Check(got)
			if err != nil || string(again) != tt.want {
				t.Errorf("Check of the result = %s, %v", again, err)
			}
		})
	}
}

func TestCheckProblems(t *testing.T) {
	const readFile = `{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer","minimum":1}},"required":["path"]}`
	const prefix = "Invalid arguments for this tool: "
	tests := []struct{ name, schema, args, want string }{
		{"type and required", readFile, `{"start_line":"ten"}`,
			`"start_line" must be an integer, got the string "ten"; "path" is required.`},
		{"null of a required property", readFile, `{"path":null}`, `"path" must be a string, got null.`},
		{"minimum after a repair", readFile, `{"path":"a","start_line":"0"}`,
			`"start_line" must be at least 1, got the number 0.`},
		{"fraction for an integer", readFile, `{"path":"a","start_line":"0.5"}`,
			`"start_line" must be an integer, got the string "0.5".`},
		{"name in another case", readFile, `{"Path":"a"}`, `"path" is required.`},
		{"no object", readFile, `[1]`, `they must be a JSON object, got an array.`},
		{"string that is no object", readFile, `"ls"`, `they must be a JSON object, got the string "ls".`},
		{"cut off", readFile, `{"path":"a`,
			`they are not valid JSON (unexpected end of JSON input); send one complete JSON object.`},
		{"NaN", prop(`{"type":"number"}`),
			`{"x":NaN}`,
			`they are not valid JSON (invalid character 'N' looking for beginning of value); send one complete JSON object.`},
		{"NaN as a string", prop(`{"type":"number"}`), `{"x":"NaN"}`, `"x" must be a number, got the string "NaN".`},
		{"other spellings of numbers", prop(`{"type":"integer"}`), `{"x":"0x10"}`,
			`"x" must be an integer, got the string "0x10".`},
		{"cut list in a string", prop(`{"type":"array","items":{"type":"string"}}`), `{"x":"[\"a\""}`,
			`"x" must be an array, got the string "[\"a\"".`},
		{"blank string for a list", prop(`{"type":"array","items":{"type":"string"}}`), `{"x":""}`,
			`"x" must be an array, got the string "".`},
		{"scalar for a list of objects", prop(`{"type":"array","items":{"type":"object"}}`), `{"x":"a"}`,
			`"x" must be an array, got the string "a".`},
		{"number for a boolean", prop(`{"type":"boolean"}`), `{"x":1}`, `"x" must be true or false, got the number 1.`},
		{"number where string or boolean is wanted", prop(`{"type":["string","boolean"]}`), `{"x":1}`,
			`"x" must be a string or true or false, got the number 1.`},
		{"several types", prop(`{"type":["string","integer","null"]}`), `{"x":[]}`,
			`"x" must be a string or an integer or null, got an array.`},
		{"enum", prop(`{"type":"string","enum":["a","b"]}`), `{"x":"c"}`,
			`"x" must be one of "a", "b", got the string "c".`},
		{"enum of another type", prop(`{"type":"string","enum":["a","b"]}`), `{"x":{}}`,
			`"x" must be one of "a", "b", got an object.`},
		{"const", prop(`{"const":"a"}`), `{"x":"b"}`, `"x" must be "a", got the string "b".`},
		{"maximum", prop(`{"maximum":1.5}`), `{"x":2}`, `"x" must be at most 1.5, got the number 2.`},
		{"exclusive", prop(`{"exclusiveMinimum":0}`), `{"x":0}`, `"x" must be more than 0, got the number 0.`},
		{"exclusive above", prop(`{"exclusiveMaximum":1e3}`), `{"x":1000}`,
			`"x" must be less than 1000, got the number 1000.`},
		{"short", prop(`{"minLength":1}`), `{"x":""}`, `"x" must have at least 1 characters, got 0.`},
		{"long, in characters", prop(`{"maxLength":2}`), `{"x":"äöü"}`, `"x" must have at most 2 characters, got 3.`},
		{"pattern", prop(`{"pattern":"^a+$"}`), `{"x":"b"}`, `"x" must match the pattern ^a+$, got the string "b".`},
		{"few items", prop(`{"minItems":2}`), `{"x":[1]}`, `"x" must have at least 2 items, got 1.`},
		{"many items", prop(`{"maxItems":0}`), `{"x":[1]}`, `"x" must have at most 0 items, got 1.`},
		{"unknown property", `{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`, `{"c":1}`,
			`"c" is not a known parameter; known are "a", "b".`},
		{"any property is unknown", `{"type":"object","additionalProperties":false}`, `{"c":1}`,
			`"c" is not a known parameter; there are none.`},
		{"never", prop(`false`), `{"x":1}`, `"x" can have no value.`},
		{"deep path", prop(`{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}`),
			`{"x":[{},{"n":"a"}]}`, `"x[1].n" must be an integer, got the string "a".`},
		{"the choice of that type", prop(`{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}`), `{"x":{}}`,
			`"x.a" is required.`},
		{"no choice", prop(`{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}`),
			`{"x":{}}`, `"x" fits none of the allowed forms, got an object.`},
		{"two choices of oneOf", prop(`{"oneOf":[{"type":"integer"},{"minimum":1}]}`), `{"x":2}`,
			`"x" fits more than one of the allowed forms, got the number 2.`},
		{"two repairs that differ", prop(`{"anyOf":[
			{"type":"object","properties":{"a":{"type":"integer"}}},
			{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}]}`), `{"x":{"a":"1"}}`, `"x" fits none of the allowed forms, got an object.`},
		{"long values are cut", prop(`{"type":"integer"}`), `{"x":"` + strings.Repeat("é", 100) + `"}`,
			`"x" must be an integer, got the string "` + strings.Repeat("é", 28) + `…".`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustParse(t, tt.schema).Check(json.RawMessage(tt.args))
			if bad := (*ArgumentError)(nil); got != nil || !errors.As(err, &bad) {
				t.Fatalf("Check(%s) = %s, %v; want an ArgumentError", tt.args, got, err)
			}
			if err.Error() != prefix+tt.want {
				t.Errorf("Check(%s):\n got %v\nwant %s%s", tt.args, err, prefix, tt.want)
			}
		})
	}
}

func TestCheckReturnsTheSameBytes(t *testing.T) {
	args := json.RawMessage(`{"x":1}`)
	got, err := mustParse(t, prop(`{"type":"integer"}`)).Check(args)
	if err != nil || &got[0] != &args[0] {
		t.Errorf("Check made a copy of valid arguments (%v)", err)
	}
}

func TestArgumentErrorIsBounded(t *testing.T) {
	var args, few strings.Builder
	for i := range 100 {
		fmt.Fprintf(&args, `,"%d%s":"é"`, i, strings.Repeat("é", 200))
	}
	for i := range 10 {
		fmt.Fprintf(&few, `,"p%d":"a"`, i)
	}
	s := mustParse(t, `{"additionalProperties":{"type":"integer","enum":[`+strings.Repeat("123456789,", 100)+`1]}}`)
	_, err := s.Check(json.RawMessage(`{` + args.String()[1:] + `}`))
	if text := err.Error(); len(text) > maxErrorText || !utf8.ValidString(text) ||
		!strings.HasSuffix(text, "; and more.") {
		t.Errorf("error has %d bytes: %s", len(text), text)
	}
	if bad := (*ArgumentError)(nil); !errors.As(err, &bad) || len(bad.Problems) != 10 || !bad.More {
		t.Errorf("100 problems gave %#v", err)
	}
	_, err = s.Check(json.RawMessage(`{` + few.String()[1:] + `}`))
	if bad := (*ArgumentError)(nil); !errors.As(err, &bad) || len(bad.Problems) != 10 || bad.More {
		t.Errorf("10 problems gave %#v", err)
	}
}

func TestCheckBounds(t *testing.T) {
	nested := func(n int) string { return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	anything := mustParse(t, `{}`)
	if _, err := anything.Check(json.RawMessage(nested(maxArgsDepth - 1))); err != nil {
		t.Errorf("depth 100: %v", err)
	}
	for name, args := range map[string]string{
		"nested more than 100 deep":    nested(maxArgsDepth),
		"bytes, more than 8388608":     `{"x":"` + strings.Repeat("a", maxArgsBytes) + `"}`,
		"hold more than 1048576 value": `{"x":[` + strings.Repeat("1,", maxValues) + `1]}`,
		"exceeded max depth":           nested(20000),
	} {
		if _, err := anything.Check(json.RawMessage(args)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q, got %v", name, err)
		}
	}
	inString := mustParse(t, prop(`{"type":"array"}`))
	for n, ok := range map[int]bool{maxArgsDepth - 1: true, maxArgsDepth: false} {
		text := strings.Repeat("[", n) + strings.Repeat("]", n)
		if _, err := inString.Check(json.RawMessage(`{"x":"` + text + `"}`)); (err == nil) != ok {
			t.Errorf("list of depth %d in a string: %v", n, err)
		}
	}
}

func TestCheckWrapsNoDeeperThanItReads(t *testing.T) {
	s := mustParse(t, `{"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"},"l":{"type":"array","items":{"type":"integer"}}}}},"$ref":"#/$defs/n"}`)
	for n, ok := range map[int]bool{maxArgsDepth - 1: true, maxArgsDepth: false} {
		args := strings.Repeat(`{"n":`, n-1) + `{"l":5}` + strings.Repeat(`}`, n-1)
		if _, err := s.Check(json.RawMessage(args)); (err == nil) != ok {
			t.Errorf("scalar for a list in %d objects: %v", n, err)
		}
	}
}

// Each level doubles the ways to fit, so that a checker without a bound would need 2^90 steps.
func TestCheckGivesUpOnSchemasThatExplode(t *testing.T) {
	s := mustParse(t, `{"$defs":{"n":{"anyOf":[
		{"type":"object","properties":{"v":{"$ref":"#/$defs/n"}},"required":["v"]},
		{"type":"object","properties":{"v":{"$ref":"#/$defs/n"}},"required":["v"]}]}},"$ref":"#/$defs/n"}`)
	_, err := s.Check(json.RawMessage(strings.Repeat(`{"v":`, 90) + `1` + strings.Repeat(`}`, 90)))
	if err == nil || !strings.Contains(err.Error(), "take too long") {
		t.Errorf("got %v", err)
	}
}

func TestLargeObjects(t *testing.T) {
	var args strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&args, `"k%d":"%d",`, i, i)
	}
	s := mustParse(t, `{"additionalProperties":{"type":"integer"},"required":["k0","k999"]}`)
	got, err := s.Check(json.RawMessage(`{` + args.String() + `"k5":"-1"}`))
	var m map[string]int
	if err != nil || json.Unmarshal(got, &m) != nil || len(m) != 1000 || m["k5"] != -1 || m["k999"] != 999 {
		t.Errorf("Check: %v, %d keys, %v", err, len(m), m["k5"])
	}
}

func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	s := mustParse(t, prop(`{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}}]}`))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got, err := s.Check(json.RawMessage(`{"x":"5"}`)); err != nil || string(got) != `{"x":5}` {
					t.Errorf("Check = %s, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCheck(f *testing.F) {
	schemas := []string{``, prop(`{"type":"integer"}`), prop(`{"type":"array","items":{"type":"string"}}`),
		`{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"],"additionalProperties":false}`,
		`{"$defs":{"n":{"type":"object","properties":{"v":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/n"}]}}}},"$ref":"#/$defs/n"}`,
	}
	for _, s := range schemas {
		for _, args := range []string{`{"x":"5"}`, `{"x":[1,"b"]}`, `{"a":"true"}`, `{"v":{"v":5.0}}`, `"{\"x\":1}"`,
			`{"x":`} {
			f.Add([]byte(s), []byte(args))
		}
	}
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		s, err := ParseSchema(schema)
		if err != nil {
			return
		}
		got, err := s.Check(args)
		if err != nil {
			if n := len(err.Error()); n > maxErrorText {
				t.Fatalf("error text of %d bytes", n)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("Check(%q) with %q = %q", args, schema, got)
		}
		again, err := s.Check(got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("Check(%q) with %q = %q, then %q, %v", args, schema, got, again, err)
		}
		v, err := parseValue(args, maxArgsDepth)
		c := checker{}
		if err == nil && v.kind == isObject && c.check(&v, s, rootPath) && !c.loose && string(got) != string(args) {
			t.Fatalf("valid %q was changed to %q", args, got)
		}
	})
}

func BenchmarkCheckBash(b *testing.B) {
	s := mustParse(b, `{"type":"object","properties":{"description":{"type":"string","description":"Why."},"command":{"type":"string"}},"required":["description","command"]}`)
	args := json.RawMessage(`{"description":"List the files of the workspace","command":"ls -la /mnt/user-data/workspace && grep -rn \"TODO\" --include='*.go' . | head -50"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(args); err != nil {
			b.Fatal(err)
		}
	}
}
