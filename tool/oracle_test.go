package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// The generators draw from few names, texts and numbers, so that values often nearly fit.
var (
	drawName   = rapid.SampledFrom([]string{"a", "b", "c/d", "e~f"})
	drawText   = rapid.SampledFrom([]string{"", "a", "b", "ab", "äö", "5", "true"})
	drawNumber = rapid.SampledFrom([]string{"0", "-0.0", "1", "1.0", "1.5", "2", "20e-1", "-3", "1e2", "12345678901"})
	drawCount  = rapid.SampledFrom([]string{"0", "1", "2", "2.0", "3"})
	drawType   = rapid.SampledFrom([]string{"null", "boolean", "integer", "number", "string", "array", "object"})
	drawRegexp = rapid.SampledFrom([]string{"^a", "b$", "^.{2}$", "[0-9]", "ä"})
	drawRef    = rapid.SampledFrom([]string{"#/$defs/one", "#/$defs/c~1d"})
)

func draw(t *rapid.T, g *rapid.Generator[string]) string { return g.Draw(t, "v") }

func quoted(s string) string { return string(quote(s)) }

func drawValue(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return "null"
	case 1:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	case 2, 3:
		return draw(t, drawNumber)
	case 4:
		return quoted(draw(t, drawText))
	case 5:
		return "[" + strings.Join(drawList(t, func() string { return drawValue(t, depth-1) }), ",") + "]"
	case 6:
		return quoted(drawValue(t, depth-1))
	}
	return drawObject(t, func() string { return drawValue(t, depth-1) })
}

func drawList(t *rapid.T, item func() string) []string {
	var items []string
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		items = append(items, item())
	}
	return items
}

func drawObject(t *rapid.T, item func() string) string {
	var fields []string
	for _, name := range rapid.SliceOfNDistinct(drawName, 0, 3, rapid.ID).Draw(t, "names") {
		fields = append(fields, quoted(name)+":"+item())
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// drawSchema draws a schema. inner says that it stands where it may refer to the definitions: below a property or an
// item, so that no reference leads back to itself without a step into the value.
func drawSchema(t *rapid.T, depth int, inner bool) string {
	if depth == 0 || rapid.IntRange(0, 15).Draw(t, "simple") == 0 {
		return rapid.SampledFrom([]string{"true", "false", "{}", `{"type":"integer"}`, `{"type":"string"}`}).
			Draw(t, "leaf")
	}
	sub := func() string { return drawSchema(t, depth-1, inner) }
	below := func() string { return drawSchema(t, depth-1, true) }
	some := func() string {
		return "[" + strings.Join(append(drawList(t, sub), sub()), ",") + "]"
	}
	keywords := map[string]func() string{
		"type": func() string {
			if rapid.Bool().Draw(t, "single") {
				return quoted(draw(t, drawType))
			}
			one, two := draw(t, drawType), draw(t, drawType)
			return "[" + quoted(one) + "," + quoted(two) + "]"
		},
		"properties":           func() string { return drawObject(t, below) },
		"additionalProperties": below,
		"required":             func() string { return "[" + quoted(draw(t, drawName)) + "]" },
		"items":                below,
		"enum":                 func() string { return "[" + drawValue(t, 1) + "," + drawValue(t, 1) + "]" },
		"const":                func() string { return drawValue(t, 2) },
		"anyOf":                some,
		"oneOf":                some,
		"allOf":                some,
		"minimum":              func() string { return draw(t, drawNumber) },
		"maximum":              func() string { return draw(t, drawNumber) },
		"exclusiveMinimum":     func() string { return draw(t, drawNumber) },
		"exclusiveMaximum":     func() string { return draw(t, drawNumber) },
		"minLength":            func() string { return draw(t, drawCount) },
		"maxLength":            func() string { return draw(t, drawCount) },
		"minItems":             func() string { return draw(t, drawCount) },
		"maxItems":             func() string { return draw(t, drawCount) },
		"pattern":              func() string { return quoted(draw(t, drawRegexp)) },
		"title":                func() string { return `"x"` },
		"x-unknown":            func() string { return `{"type":5}` },
	}
	if inner {
		keywords["$ref"] = func() string { return quoted(draw(t, drawRef)) }
	}
	names := make([]string, 0, len(keywords))
	for name := range keywords {
		names = append(names, name)
	}
	var fields []string
	drawKeyword := rapid.SampledFrom(sorted(names))
	for _, name := range rapid.SliceOfNDistinct(drawKeyword, 0, 3, rapid.ID).Draw(t, "keywords") {
		fields = append(fields, quoted(name)+":"+keywords[name]())
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// drawRoot draws a schema with definitions that recurse through properties and items only.
func drawRoot(t *rapid.T) string {
	return `{"$defs":{"one":` + drawSchema(t, 2, false) + `,"c/d":` + drawSchema(t, 2, false) + `},"allOf":[` +
		drawSchema(t, 3, false) + `]}`
}

// oracle is the verdict of another implementation.
func oracle(t *rapid.T, schema, value string) bool {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatalf("oracle: parse %s: %v", schema, err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("oracle: resolve %s: %v", schema, err)
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatalf("oracle: decode %s: %v", value, err)
	}
	return resolved.Validate(v) == nil
}

func TestValidateAgreesWithOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawRoot(t)
		s, err := ParseSchema(json.RawMessage(schema))
		if err != nil {
			t.Fatalf("ParseSchema(%s): %v", schema, err)
		}
		for range 5 {
			value := drawValue(t, 3)
			if got, want := s.validate(json.RawMessage(value)), oracle(t, schema, value); (got == nil) != want {
				t.Fatalf("schema %s\nvalue %s\ngot %v, want valid: %v", schema, value, got, want)
			}
		}
	})
}

// drawParameter draws what the schemas of tools are made of, for which repairs are likely.
func drawParameter(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 9).Draw(t, "parameter")
	if depth == 0 {
		kind %= 6
	}
	switch kind {
	case 0, 1, 2, 3:
		return rapid.SampledFrom([]string{`{"type":"integer"}`, `{"type":"number"}`, `{"type":"boolean"}`,
			`{"type":"string"}`}).Draw(t, "scalar")
	case 4:
		return `{"type":["integer","null"],"minimum":1}`
	case 5:
		return `{"enum":["a","5",1]}`
	case 6:
		return `{"type":"array","items":` + drawParameter(t, depth-1) + `}`
	case 7:
		return `{"anyOf":[` + drawParameter(t, depth-1) + `,` + drawParameter(t, depth-1) + `]}`
	case 8:
		return `{"oneOf":[` + drawParameter(t, depth-1) + `,{"type":"null"}]}`
	}
	return drawTool(t, depth-1)
}

func drawTool(t *rapid.T, depth int) string {
	properties := drawObject(t, func() string { return drawParameter(t, depth) })
	required := ""
	if rapid.IntRange(0, 3).Draw(t, "required") == 0 {
		required = quoted(draw(t, drawName))
	}
	return `{"type":"object","properties":` + properties + `,"required":[` + required + `]}`
}

func TestCheckedArgumentsFitForOracle(t *testing.T) {
	fixed := 0
	rapid.Check(t, func(t *rapid.T) {
		schema := drawTool(t, 3)
		if rapid.Bool().Draw(t, "odd") {
			schema = drawRoot(t)
		}
		s, err := ParseSchema(json.RawMessage(schema))
		if err != nil {
			t.Fatalf("ParseSchema(%s): %v", schema, err)
		}
		for range 10 {
			args := drawObject(t, func() string { return drawValue(t, 2) })
			got, err := s.Check(json.RawMessage(args))
			if err != nil {
				if oracle(t, schema, args) {
					t.Fatalf("schema %s\nrefused %s: %v", schema, args, err)
				}
				continue
			}
			if string(got) != args {
				fixed++
			}
			if !oracle(t, schema, string(got)) {
				t.Fatalf("schema %s\n%s became %s, which does not fit", schema, args, got)
			}
			if again, err := s.Check(got); err != nil || string(again) != string(got) {
				t.Fatalf("schema %s\n%s became %s and then %s, %v", schema, args, got, again, err)
			}
		}
	})
	t.Logf("%d repairs", fixed)
}

func sorted(s []string) []string { slices.Sort(s); return s }
