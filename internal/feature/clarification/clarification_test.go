package clarification

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRequest(t *testing.T) {
	for _, tt := range []struct{ name, args, text, artifact string }{
		{"choice with context",
			`{"question": "Which colour?", "clarification_type": "approach_choice", "context": "The house has no colour yet.", "options": ["red", "blue"]}`,
			"🔀 The house has no colour yet.\n\nWhich colour?\n\n  1. red\n  2. blue",
			`{"version": 1, "kind": "human_input_request", "source": "ask_clarification", "request_id": "clarification:c1", "clarification_type": "approach_choice", "question": "Which colour?", "input_mode": "choice_with_other", "tool_call_id": "c1", "context": "The house has no colour yet.", "options": [{"id": "option-1", "label": "red", "value": "red"}, {"id": "option-2", "label": "blue", "value": "blue"}]}`},
		{"form",
			`{"question": "Your data?", "clarification_type": "missing_info", "fields": [{"name": "city", "label": "City", "type": "text", "required": true, "placeholder": "e.g. Lisbon"}, {"name": "meals", "type": "multi_select", "options": ["S", "L"]}]}`,
			"❓ Your data?\n\n  1. City (required)\n  2. meals — options: S / L (multiple allowed)\n\nPlease reply with a value for each field.",
			`{"version": 2, "kind": "human_input_request", "source": "ask_clarification", "request_id": "clarification:c1", "clarification_type": "missing_info", "question": "Your data?", "input_mode": "form", "tool_call_id": "c1", "fields": [{"name": "city", "label": "City", "type": "text", "required": true, "placeholder": "e.g. Lisbon"}, {"name": "meals", "label": "meals", "type": "multi_select", "required": false, "options": [{"id": "meals-option-1", "label": "S", "value": "S"}, {"id": "meals-option-2", "label": "L", "value": "L"}]}]}`},
		{"free text",
			`{"question": "Delete it?", "clarification_type": "risk_confirmation"}`,
			"⚠️ Delete it?",
			`{"version": 1, "kind": "human_input_request", "source": "ask_clarification", "request_id": "clarification:c1", "clarification_type": "risk_confirmation", "question": "Delete it?", "input_mode": "free_text", "tool_call_id": "c1"}`},
	} {
		r := Parse(json.RawMessage(tt.args))
		if diff := cmp.Diff(tt.text, r.Text()); diff != "" {
			t.Errorf("%s: text: %s", tt.name, diff)
		}
		var got, want any
		if err := json.Unmarshal(r.Artifact("c1"), &got); err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal([]byte(`{"human_input":`+tt.artifact+`}`), &want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: artifact: %s", tt.name, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	same := func(labels ...string) (out []Option) {
		for _, l := range labels {
			out = append(out, Option{l, l})
		}
		return out
	}
	for _, tt := range []struct {
		name, raw string
		want      []Option
	}{
		{"strings", `[" a ", "b", "a", ""]`, same("a", "b")},
		{"JSON in a string", `"[\"a\", \"b\"]"`, same("a", "b")},
		{"a scalar", `7`, same("7")},
		{"scalars", `[1, true, null, 2.5]`, same("1", "true", "2.5")},
		{"one string", `"just do it"`, same("just do it")},
		{"lines", `"a\nb"`, same("a", "b")},
		{"markup in a string", `"<options><option>a</option>\n<option id=\"2\">b</option></options>"`, same("a", "b")},
		{"markup in an entry", `["<b>bold</b>"]`, same("bold")},
		{"no markup", `["a < b and c > d"]`, same("a < b and c > d")},
		{"wrapped", `{"option": ["a", "b"]}`, same("a", "b")},
		{"by letter, in order", `{"B": "first", "A": "second"}`, same("first", "second")},
		{"objects", `[{"label": "Red", "value": "r"}, {"label": "Blue"}, {"value": "v"}]`,
			[]Option{{"Red", "r"}, {"Blue", "Blue"}, {"v", "v"}}},
		{"equal values", `[{"label": "Red", "value": "r"}, {"label": "Rot", "value": "r"}]`, []Option{{"Red", "r"}}},
		{"label before value", `[{"value": "r", "label": "Red"}, {"title": "Blue", "description": "cold"}]`,
			[]Option{{"Red", "r"}, {"Blue", "Blue"}}},
		{"objects in a string", `"[{\"label\": \"Red\", \"value\": 1}]"`, []Option{{"Red", "1"}}},
		{"objects in strings", `["{\"label\": \"Red\"}", "Blue"]`, same("Red", "Blue")},
		{"wrapped twice", `{"options": {"option": ["a", {"text": "b"}]}}`, same("a", "b")},
		{"a number that is a label", `[{"label": 5}, {"label": 10}]`, same("5", "10")},
		{"a list in a list", `[["a"], ["b", ["c"]]]`, same("a", "b", "c")},
		{"numbered lines", `"1. red\n2. blue"`, same("red", "blue")},
		{"lettered", `["A) red", "B) blue"]`, same("red", "blue")},
		{"dashes", `"- red\n- blue"`, same("red", "blue")},
		{"numbers that do not count up", `["3. red", "2. blue"]`, same("3. red", "2. blue")},
		{"one number", `["1. red"]`, same("1. red")},
		{"numbers that belong there", `["1 day", "2 days"]`, same("1 day", "2 days")},
		{"equal but for the marks", `["1. red", "2. red"]`, same("1. red", "2. red")},
		{"numbered labels with values", `[{"label": "1. Red", "value": "r"}, {"label": "2. Blue", "value": "b"}]`,
			[]Option{{"Red", "r"}, {"Blue", "b"}}},
		{"nothing", `null`, nil},
		{"too deep", strings.Repeat("[", 20) + `"x"` + strings.Repeat("]", 20), nil},
	} {
		got := Parse(json.RawMessage(`{"question":"q","options":` + tt.raw + `}`)).Options
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestManyOptionsAreLeftToTheText(t *testing.T) {
	list := make([]string, 150)
	for i := range list {
		list[i] = fmt.Sprint("option ", i)
	}
	for _, labels := range [][]string{list, {"short", strings.Repeat("x", 201)}} {
		raw, _ := json.Marshal(map[string]any{"question": "q", "options": labels})
		r := Parse(raw)
		if len(r.Options) > 100 || !strings.Contains(r.Text(), labels[0]) {
			t.Errorf("%d options in %.80q", len(r.Options), r.Text())
		}
		if a := string(r.Artifact("c")); !strings.Contains(a, `"free_text"`) || strings.Contains(a, `"options"`) {
			t.Errorf("artifact %.200s", a)
		}
	}
}

func TestFields(t *testing.T) {
	text := func(name string) []Field { return []Field{{Name: name, Label: name, Type: "text"}} }
	many := `{"name":"f0"}`
	for i := 1; i < 17; i++ {
		many += fmt.Sprintf(`,{"name":"f%d"}`, i)
	}
	for _, tt := range []struct {
		name, raw string
		want      []Field
	}{
		{"in a string", `"[{\"name\":\"a\"}]"`, text("a")},
		{"wrapped", `{"field":[{"name":"a"}]}`, text("a")},
		{"wrapped, one", `{"field":{"name":"a"}}`, text("a")},
		{"one object", `{"name":"a"}`, text("a")},
		{"unknown type", `[{"name":"a","type":"slider"}]`, text("a")},
		{"select without options", `[{"name":"a","type":"select","options":[]}]`, text("a")},
		{"options of a text", `[{"name":"a","type":"text","options":["x"]}]`, text("a")},
		{"required as text", `[{"name":"a","required":"yes"}]`,
			[]Field{{Name: "a", Label: "a", Type: "text", Required: true}}},
		{"prototype name", `[{"name":"ok"},{"name":"__proto__"}]`, nil},
		{"constructor", `[{"name":"constructor"}]`, nil},
		{"same name twice", `[{"name":"a"},{"name":"a"}]`, nil},
		{"no name", `[{"label":"A"}]`, nil},
		{"bad name", `[{"name":"a b"}]`, nil},
		{"no object", `["a"]`, nil},
		{"17 fields", `[` + many + `]`, nil},
		{"long label", `[{"name":"a","label":"` + strings.Repeat("x", 201) + `"}]`, nil},
		{"25 options", `[{"name":"a","type":"select","options":"` + strings.Repeat("o", 1) +
			strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz", ""), `\n`) + `"}]`, nil},
		{"garbage", `7`, nil},
	} {
		got := Parse(json.RawMessage(`{"question":"q","fields":` + tt.raw + `}`)).Fields
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestNamesOfFields(t *testing.T) {
	pattern := regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_.-]{0,63}$`) // what validName promises
	alphabet := rapid.SampledFrom([]rune("aZ_.-09 \n\"éß日٣Ⅷ½\u0301\uFFFD😀"))
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOfN(alphabet, 0, 66).Draw(t, "name"))
		if rapid.Bool().Draw(t, "long") {
			name = strings.Repeat("é", rapid.IntRange(62, 66).Draw(t, "length"))
		}
		if got, want := validName(name), pattern.MatchString(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	})
}

func TestFormTooLarge(t *testing.T) {
	var list []map[string]any
	for i := range 16 {
		opts := make([]string, 24)
		for j := range opts {
			opts[j] = fmt.Sprint(strings.Repeat("y", 150), j)
		}
		list = append(list, map[string]any{"name": fmt.Sprint("f", i), "type": "select", "options": opts})
	}
	raw, _ := json.Marshal(map[string]any{"question": "q", "fields": list})
	if r := Parse(raw); r.Fields != nil || r.Text() != "❓ q" {
		t.Errorf("a form of %d bytes was kept", len(r.Artifact("c")))
	}
}

func TestParseOfWrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		``:                        "Please give more details.",
		`{`:                       "Please give more details.",
		`{}`:                      "Please give more details.",
		`null`:                    "Please give more details.",
		`"What now?"`:             "What now?",
		`{"question": 7}`:         "7",
		`{"context": "no q"}`:     "no q",
		`{"question": ["a","b"]}`: "Please give more details.",
	} {
		if got := Parse(json.RawMessage(args)).Question; got != want {
			t.Errorf("%q: question %q, want %q", args, got, want)
		}
	}
}

func TestIDWithoutCall(t *testing.T) {
	a, b := Parse(json.RawMessage(`{"question":"a"}`)), Parse(json.RawMessage(`{"question":"b"}`))
	first, again := a.ID(""), a.ID("")
	if first == b.ID("") || first != again || len(a.ID("")) != len("clarification:")+16 {
		t.Errorf("ids %q, %q", a.ID(""), b.ID(""))
	}
	if a.ID("call_7") != "clarification:call_7" || strings.Contains(string(a.Artifact("")), "tool_call_id") {
		t.Errorf("id %q, artifact %s", a.ID("call_7"), a.Artifact(""))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"question":"q","options":["a","b"]}`,
		`{"question":"q","options":"[1,{\"a\":\"<b>x\"}]"}`,
		`{"question":"q","fields":[{"name":"a","type":"select","options":{"x":"y"}},{"name":"__proto__"}]}`, `"q"`, `[`,
		`{"fields":"{\"f\":[{}]}"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		r := Parse(args)
		if r.Question == "" || icons[r.Type] == "" || r.Text() == "" {
			t.Fatalf("no question in %#v", r)
		}
		var got artifact
		raw := r.Artifact("c")
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("artifact %s: %v", raw, err)
		}
		if len(got.HumanInput.Fields) > 0 && len(raw) > maxRequest || len(got.HumanInput.Options) > maxShown {
			t.Fatalf("artifact of %d bytes", len(raw))
		}
		check := func(options []ShownOption) {
			ids, vals := map[string]bool{}, map[string]bool{}
			for _, o := range options {
				if o.Label == "" || o.Value == "" || ids[o.ID] || vals[o.Value] {
					t.Fatalf("option %#v in %s", o, raw)
				}
				ids[o.ID], vals[o.Value] = true, true
			}
		}
		check(got.HumanInput.Options)
		names := map[string]bool{}
		for _, f := range got.HumanInput.Fields {
			if f.Name == "" || names[f.Name] || strings.HasPrefix(f.Name, "__") {
				t.Fatalf("field %#v", f)
			}
			names[f.Name] = true
			check(f.Options)
		}
	})
}
