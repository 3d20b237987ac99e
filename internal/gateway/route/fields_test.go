package route

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// everyKind has a field of each kind that a request may have.
type everyKind struct {
	Text    string                     `body:"text"`
	Short   string                     `body:"short" max:"4"`
	Kind    string                     `body:"kind" enum:"a,b,c"`
	Number  int                        `body:"number" default:"3" max:"5" min:"2"`
	On      bool                       `body:"on" default:"true"`
	Off     bool                       `body:"off"`
	Names   []string                   `body:"names" max:"2"`
	Object  json.RawMessage            `body:"object"`
	Small   json.RawMessage            `body:"small" max:"7"`
	Least   json.RawMessage            `body:"least" max:"1"`
	Members map[string]json.RawMessage `body:"members"`
	Needed  string                     `body:"needed" required:""`
	Thread  ThreadID                   `body:"thread"`
	Meta    Metadata                   `body:"meta"`
	Filter  Filter                     `body:"filter"`
}

// without is what is read where nothing came.
func without() everyKind { return everyKind{Kind: "a", Number: 3, On: true, Needed: "x"} }

// TestFieldsOfARequest: each kind of field is read from what clients send, or it is said where and why it cannot be.
func TestFieldsOfARequest(t *testing.T) {
	for _, tt := range []struct {
		member, value string
		want          func(f *everyKind) // what is read
		wrong         string             // or what is said
	}{
		{"text", `"héllo"`, func(f *everyKind) { f.Text = "héllo" }, ""},
		{"text", `null`, nil, ""},
		{"text", `5`, nil, "body.text: Input should be a valid string"},
		{"short", `"four"`, func(f *everyKind) { f.Short = "four" }, ""},
		{"short", `"five5"`, nil, "body.short: String should have at most 4 bytes"},
		{"short", `"a\u0000"`, nil, "body.short: Value error, String should not contain NUL"},
		{"kind", `"b"`, func(f *everyKind) { f.Kind = "b" }, ""},
		{"kind", `"c"`, func(f *everyKind) { f.Kind = "c" }, ""},
		{"kind", `"d"`, nil, "body.kind: Input should be 'a', 'b' or 'c'"},
		{"number", `2`, func(f *everyKind) { f.Number = 2 }, ""},
		{"number", `"5"`, func(f *everyKind) { f.Number = 5 }, ""},
		{"number", `4.0`, func(f *everyKind) { f.Number = 4 }, ""},
		{"number", `1`, nil, "body.number: Input should be greater than or equal to 2"},
		{"number", `6`, nil, "body.number: Input should be less than or equal to 5"},
		{"number", `9007199254740991`, nil, "body.number: Input should be less than or equal to 5"},
		{"number", `2.5`, nil, "body.number: Input should be a valid integer, unable to parse string as an integer"},
		{"number", `1e300`, nil, "body.number: Input should be a valid integer, unable to parse string as an integer"},
		{"on", `false`, func(f *everyKind) { f.On = false }, ""},
		{"on", `"no"`, func(f *everyKind) { f.On = false }, ""},
		{"off", `"On"`, func(f *everyKind) { f.Off = true }, ""},
		{"off", `1`, func(f *everyKind) { f.Off = true }, ""},
		{"off", `2`, nil, "body.off: Input should be a valid boolean, unable to interpret input"},
		{"names", `"one"`, func(f *everyKind) { f.Names = []string{"one"} }, ""},
		{"names", `["a","b"]`, func(f *everyKind) { f.Names = []string{"a", "b"} }, ""},
		{"names", `["a","b","c"]`, nil, "body.names: List should have at most 2 items"},
		{"names", `[1]`, nil, "body.names: Input should be a valid list"},
		{"object", "{\"a\" :\n1}", func(f *everyKind) { f.Object = json.RawMessage(`{"a":1}`) }, ""},
		{"object", `[]`, nil, "body.object: Input should be a valid dictionary"},
		{"small", `{"a":1}`, func(f *everyKind) { f.Small = json.RawMessage(`{"a":1}`) }, ""},
		{"small", `{"a":12}`, nil, "body.small: Dictionary should have at most 7 bytes of JSON"},
		{"least", `{}`, nil, "body.least: Dictionary should have at most 1 bytes of JSON"},
		{"members", `{"a":1}`, func(f *everyKind) { f.Members = map[string]json.RawMessage{"a": json.RawMessage(`1`)} },
			""},
		{"members", `"a"`, nil, "body.members: Input should be a valid dictionary"},
		{"needed", `null`, nil, "body.needed: Field required"},
		{"thread", `"t-1"`, func(f *everyKind) { f.Thread = "t-1" }, ""},
		{"thread", `"../x"`, nil, "body.thread: String should match pattern '^[A-Za-z0-9_-]{1,64}$'"},
		{"thread", `""`, nil, "body.thread: String should match pattern '^[A-Za-z0-9_-]{1,64}$'"},
		{"meta", `{"user_id":"x","owner_id":"x","auth_token":"x","k":1}`,
			func(f *everyKind) { f.Meta = Metadata(`{"k":1}`) }, ""},
		{"filter", `{"a":"x"}`, func(f *everyKind) { f.Filter = Filter{"a": json.RawMessage(`"x"`)} }, ""},
		{"filter", `{"b":[1],"a b":1,"c":{}}`, nil, "body.filter: Value error, Invalid metadata filter entries: " +
			"'a b' (unsafe key), 'b' (unsupported value type list), 'c' (unsupported value type dict)"},
	} {
		in := &Input{At: []any{"body"}, Members: map[string]json.RawMessage{"needed": json.RawMessage(`"x"`)}}
		in.Members[tt.member] = json.RawMessage(tt.value)
		got, want := everyKind{}, without()
		Decode(in, &got)
		if wrong := (&Error{Detail: []Fault(in.Faults)}).message(); wrong != tt.wrong ||
			(in.Err() == nil) != (tt.wrong == "") {
			t.Errorf("%s %s: %q, want %q", tt.member, tt.value, wrong, tt.wrong)
			continue
		}
		if tt.want != nil {
			tt.want(&want)
		}
		if diff := cmp.Diff(want, got); tt.wrong == "" && diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.member, tt.value, diff)
		}
	}
}

// TestAFilterAsksForSoMany members, and not for one more.
func TestAFilterAsksForSoMany(t *testing.T) {
	for n, wrong := range map[int]string{MaxFilter: "", MaxFilter + 1: "more than 64"} {
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf(`"k%d":1`, i))
		}
		in := &Input{Members: map[string]json.RawMessage{"f": json.RawMessage("{" + strings.Join(members, ",") + "}")}}
		got := in.Filter("f")
		if said := (&Error{Detail: []Fault(in.Faults)}).message(); !strings.HasSuffix(said, wrong) ||
			(wrong == "") != (len(got) == n) {
			t.Errorf("of %d members %d are asked for: %q", n, len(got), said)
		}
	}
}

// TestAFaultAsFastAPISaysIt has what came, if that is short, and what was expected.
func TestAFaultAsFastAPISaysIt(t *testing.T) {
	for member, want := range map[string]string{
		`"kind":"d"`: `{"type":"literal_error","loc":["body","kind"],"msg":"Input should be 'a', 'b' or 'c'","input":"d",
			"ctx":{"expected":"'a', 'b' or 'c'"}}`,
		`"number":9`: `{"type":"less_than_equal","loc":["body","number"],"msg":"Input should be less than or equal to 5","input":9,"ctx":{"le":5}}`,
		`"number":0`: `{"type":"greater_than_equal","loc":["body","number"],"msg":"Input should be greater than or equal to 2","input":0,"ctx":{"ge":2}}`,
		`"short":"12345"`: `{"type":"string_too_long","loc":["body","short"],"msg":"String should have at most 4 bytes","input":"12345",
			"ctx":{"max_length":4}}`,
		`"small":{"a":123}`: `{"type":"too_long","loc":["body","small"],"msg":"Dictionary should have at most 7 bytes of JSON","input":null,
			"ctx":{"max_length":7}}`,
		`"needed":null`: `{"type":"missing","loc":["body","needed"],"msg":"Field required","input":null}`,
	} {
		in := &Input{At: []any{"body"}}
		if err := json.Unmarshal([]byte(`{"needed":"x",`+member+`}`), &in.Members); err != nil {
			t.Fatal(err)
		}
		Decode(in, &everyKind{})
		got, err := json.Marshal(in.Faults)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(jsontest.Decode(t, []byte("["+want+"]")), jsontest.Decode(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", member, diff)
		}
	}
}

// TestObjectsOfAList: each is read by itself, and a fault says at which place it stands.
func TestObjectsOfAList(t *testing.T) {
	in := &Input{At: []any{"body"}}
	if err := json.Unmarshal([]byte(`{"two":[{"a":"x"},{"a":"y"}],"mixed":[{"a":"x"},5,{"a":"z"},"s"],"none":null,"one":{}}`), &in.Members); err != nil {
		t.Fatal(err)
	}
	list := in.Inputs("two", 2)
	if len(list) != 2 || list[0].Str("a") != "x" || list[1].Str("a") != "y" || in.Err() != nil {
		t.Errorf("%+v, %v", list, in.Err())
	}
	if list[1].Integer("a", 0, 0, 9); len(list[1].Faults) != 1 ||
		fmt.Sprint(list[1].Faults[0].Loc) != "[body two 1 a]" {
		t.Errorf("within: %+v", list[1].Faults)
	}
	if list := in.Inputs("none", 2); list != nil || in.Err() != nil {
		t.Errorf("of nothing %+v, %v", list, in.Err())
	}
	if mixed := in.Inputs("mixed", 4); len(mixed) != 4 || mixed[2].Str("a") != "z" {
		t.Errorf("behind one that is none: %+v", mixed)
	}
	in.Inputs("one", 2)
	in.Inputs("two", 1)
	const want = "body.mixed.1: Input should be a valid dictionary; body.mixed.3: Input should be a valid dictionary; " +
		"body.one: Input should be a valid list; body.two: List should have at most 1 items"
	if got := (&Error{Detail: []Fault(in.Faults)}).message(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAnElementOfABody that is a list is an object, or the answer says which is none.
func TestAnElementOfABody(t *testing.T) {
	in := &Input{At: []any{"body"}}
	if in.Request() == nil {
		t.Error("what came with no request has none")
	}
	sub, err := in.Element(3, json.RawMessage(`{"a":5}`))
	if err != nil || sub.Str("a") != "" || fmt.Sprint(sub.Faults[0].Loc) != "[body 3 a]" {
		t.Errorf("%+v, %v", sub, err)
	}
	if in.Take(sub); len(in.Faults) != 1 {
		t.Errorf("its fault is not that of the whole: %+v", in.Faults)
	}
	_, err = in.Element(4, json.RawMessage(`[]`))
	var no *Error
	if !errors.As(err, &no) || !strings.HasPrefix(no.message(), "body.4: Input should be a valid dictionary") {
		t.Errorf("no object: %v", err)
	}
}

// TestFieldsWithoutBounds have those of their kind.
func TestFieldsWithoutBounds(t *testing.T) {
	type loose struct {
		Number int    `body:"number"`
		Letter string `body:"letter" max:"1"`
	}
	for body, want := range map[string]string{
		`{}`: "", `{"number":0}`: "", `{"number":2147483647}`: "", `{"letter":"x"}`: "",
		`{"number":-1}`:         "number: Input should be greater than or equal to 0",
		`{"number":2147483648}`: "number: Input should be less than or equal to 2147483647",
		`{"letter":"xy"}`:       "letter: String should have at most 1 bytes",
	} {
		in := &Input{}
		if err := json.Unmarshal([]byte(body), &in.Members); err != nil {
			t.Fatal(err)
		}
		var got loose
		Decode(in, &got)
		if wrong := (&Error{Detail: []Fault(in.Faults)}).message(); wrong != want || body == `{}` && got.Number != 0 {
			t.Errorf("%s: %q, want %q", body, wrong, want)
		}
	}
}

// TestATagThatIsNoNumber is a mistake that is noticed when the server is made.
func TestATagThatIsNoNumber(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != "route: the field Name has a tag max that is no number: many" {
			t.Error(got)
		}
	}()
	Decode(&Input{}, &struct {
		Name string `body:"name" max:"many"`
	}{})
}

// TestQueriesAndHeaders are texts by their names, and lists where a name is one; what is empty is not there.
func TestQueriesAndHeaders(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/?many=1&many=2&one=x&one=y&other=z&empty=", http.NoBody)
	r.Header.Set("Last-Event-ID", "7")
	in := queryOf(r, map[string]bool{"many": true, "one": false, "empty": false, "none": true})
	want := map[string]json.RawMessage{"many": json.RawMessage(`["1","2"]`), "one": json.RawMessage(`"x"`)}
	if diff := cmp.Diff(want, in.Members); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	in = headerOf(r, map[string]bool{"Last-Event-ID": false, "If-Match": false})
	if diff := cmp.Diff(map[string]json.RawMessage{"Last-Event-ID": json.RawMessage(`"7"`)}, in.Members); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
