package tool

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// validate reports whether a JSON value of any type fits, without repairs.
func (s *Schema) validate(raw json.RawMessage) error {
	v, err := parseValue(raw, maxArgsDepth)
	if err != nil {
		return err
	}
	return s.verdict(&v, &checker{})
}

func TestParseSchemaKeepsTheText(t *testing.T) {
	const raw = `{ "x-mcp" : {"b":1,"a":[2.0]}, "type":"object", "properties":{"b":{"format":"uri"},"a":{}} }`
	if got := mustParse(t, raw).JSON(); string(got) != raw {
		t.Errorf("JSON() = %s", got)
	}
	if got := mustParse(t, " ").JSON(); string(got) != noParameters {
		t.Errorf("JSON() of the empty schema = %s", got)
	}
}

func TestParseSchemaKeepsNoReference(t *testing.T) {
	raw := json.RawMessage(`{"properties":{"x":{"enum":["a"]}}}`)
	s, err := ParseSchema(raw)
	if err != nil {
		t.Fatal(err)
	}
	copy(raw, strings.Repeat("~", len(raw)))
	if err := s.validate(json.RawMessage(`{"x":"a"}`)); err != nil {
		t.Error(err)
	}
}

func TestParseSchemaErrors(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"broken", `{"type":`, `unexpected end of JSON input`},
		{"list", `[]`, `#: a schema must be an object, true or false, not an array`},
		{"property", prop(`5`), `#/properties/x: a schema must be an object, true or false, not the number 5`},
		{"type name", prop(`{"type":"file"}`),
			`#/properties/x: "type" must be the name of a JSON type or a list of them, not the string "file"`},
		{"properties", `{"properties":[]}`, `#: "properties" must be an object of schemas, not an array`},
		{"required", `{"required":[1]}`, `#: "required" must be a list of strings`},
		{"enum", `{"enum":"a"}`, `#: "enum" must be a list`},
		{"anyOf", `{"anyOf":[]}`, `#: "anyOf" must be a list of schemas that is not empty`},
		{"anyOf member", `{"anyOf":[1]}`, `#/anyOf/0: a schema must be`},
		{"minimum", `{"minimum":"1"}`, `#: "minimum" must be a number, not the string "1"`},
		{"minLength", `{"minLength":1.5}`, `#: "minLength" must be an integer`},
		{"pattern", `{"pattern":1}`, `#: "pattern" must be a string`},
		{"remote reference", `{"$ref":"https://example.com/s"}`, `$ref "https://example.com/s" leads nowhere`},
		{"missing definition", `{"$ref":"#/$defs/x"}`, `$ref "#/$defs/x" leads nowhere`},
		{"reference to itself", `{"$ref":"#"}`, `$ref "#" leads back to itself`},
		{"circle", `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`,
			`leads back to itself`},
		{"depth", strings.Repeat(`{"items":`, 65) + `{}` + strings.Repeat(`}`, 65), `nested too deeply`},
		{"size", `{"description":"` + strings.Repeat("a", maxSchemaBytes) + `"}`, `more than 1048576`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseSchema(json.RawMessage(tt.schema))
			if err == nil || !strings.HasPrefix(err.Error(), "parse schema: ") ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseSchemaBears(t *testing.T) {
	tests := []struct{ name, schema, fits, misfits string }{
		{"pattern that Go cannot compile", prop(`{"type":"string","pattern":"(?=a)b"}`), `{"x":"c"}`, `{"x":[]}`},
		{"boolean exclusiveMinimum", prop(`{"minimum":1,"exclusiveMinimum":true}`), `{"x":1}`, `{"x":0}`},
		{"list of items", prop(`{"items":[{"type":"string"}]}`), `{"x":[1]}`, ``},
		{"prefixItems", prop(`{"prefixItems":[{}],"items":{"type":"string"}}`), `{"x":[1,"a"]}`, `{"x":["a",1]}`},
		{"patternProperties", `{"patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"x-a":1}`, ``},
		{"required as a mark", prop(`{"required":true}`), `{"x":1}`, ``},
		{"escaped reference", `{"$defs":{"a/b c":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a~1b%20c"}}}`,
			`{"x":"a"}`, `{"x":[]}`},
		{"reference to a property", `{"properties":{"y":{"type":"string"},"x":{"$ref":"#/properties/y"}}}`, `{"x":"a"}`,
			`{"x":[]}`},
		{"reference to the root", prop(`{"$ref":"#"}`), `{"x":{"x":{}}}`, `{"x":{"x":1}}`},
		{"keywords beside a reference",
			`{"$defs":{"n":{"type":"integer"}},"properties":{"x":{"$ref":"#/$defs/n","minimum":1}}}`, `{"x":1}`,
			`{"x":0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, tt.schema)
			if err := s.validate(json.RawMessage(tt.fits)); err != nil {
				t.Errorf("%s: %v", tt.fits, err)
			}
			if tt.misfits != "" && s.validate(json.RawMessage(tt.misfits)) == nil {
				t.Errorf("%s fits", tt.misfits)
			}
		})
	}
}

func TestNumbersCompareExactly(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		ra, _ := new(big.Rat).SetString(a)
		rb, _ := new(big.Rat).SetString(b)
		fa, fb := parseNumber(a), parseNumber(b)
		if got, want := fa.Cmp(fb), ra.Cmp(rb); got != want {
			t.Fatalf("Cmp(%s, %s) = %d, want %d", a, b, got, want)
		}
		if fa.IsInt() != ra.IsInt() {
			t.Fatalf("IsInt(%s) = %v", a, fa.IsInt())
		}
		if text, ok := plainInteger(fa); ok && text != ra.Num().String() {
			t.Fatalf("plainInteger(%s) = %s", a, text)
		}
	})
}

// TestNumbersOfManySpellings: one value is one number, however it is written.
func TestNumbersOfManySpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits, zeros := rapid.StringMatching(`[1-9][0-9]{0,30}`).Draw(t, "digits"),
			rapid.IntRange(0, 30).Draw(t, "zeros")
		exp := rapid.IntRange(-200, 200).Draw(t, "exponent")
		one := digits + "e" + strconv.Itoa(exp)
		for _, other := range []string{
			digits + strings.Repeat("0", zeros) + "e" + strconv.Itoa(exp-zeros),
			"0." + strings.Repeat("0", zeros) + digits + "e" + strconv.Itoa(exp+zeros+len(digits)),
		} {
			if parseNumber(one).Cmp(parseNumber(other)) != 0 {
				t.Fatalf("%s is not %s", one, other)
			}
		}
	})
}

func TestNumbersOfEnormousExponents(t *testing.T) {
	order := []string{"-1e99999999999999999999", "-1", "-1e-9", "0e99", "1e-9", "1", "1e999999999"}
	for i, a := range order {
		for j, b := range order {
			if got, want := parseNumber(a).Cmp(parseNumber(b)), min(max(i-j, -1), 1); got != want {
				t.Errorf("compare(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
}
