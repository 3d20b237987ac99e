package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tell makes a tool that answers with its decoded arguments.
func tell[In any](t *testing.T, spec Spec) Tool {
	t.Helper()
	spec.Name = "tell"
	tool, err := New(spec, func(_ context.Context, _ *Call, in In) (*Result, error) {
		raw, err := json.Marshal(in)
		return Text(string(raw)), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func run(t *testing.T, tool Tool, args string) *Result {
	t.Helper()
	r, err := tool.Run(t.Context(), &Call{Args: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("Run(%s): %v", args, err)
	}
	return r
}

type mixin struct {
	Why string `json:"description" doc:"Why <you> do it."`
}

type edit struct {
	Old   string `json:"old" min:"1"`
	Count uint   `json:"count" default:"1"`
}

type everything struct {
	Limit int `json:"limit" default:"100" min:"1" max:"1000" doc:"How many."`
	mixin
	Path   string            `json:"path" min:"1" max:"200"`
	Mode   string            `json:"mode,omitempty" enum:"text,hex" default:"text"`
	Level  *float64          `json:"level"`
	Force  bool              `json:"force,omitzero"`
	Edits  []edit            `json:"edits,omitempty" max:"3"`
	Env    map[string]string `json:"env,omitempty"`
	Any    json.RawMessage   `json:"any,omitempty"`
	Size   uint8             `json:"size,omitempty" enum:"1,2"`
	Hidden string            `json:"-"`
	secret string            //nolint:unused // what is not exported is no parameter
	Plain  []string
}

func TestInferredSchema(t *testing.T) {
	want := `{"type":"object","properties":{` +
		`"description":{"type":"string","description":"Why <you> do it."},` +
		`"path":{"type":"string","minLength":1,"maxLength":200},` +
		`"Plain":{"type":"array","items":{"type":"string"}},` +
		`"limit":{"type":"integer","description":"How many.","minimum":1,"maximum":1000,"default":100},` +
		`"mode":{"type":"string","enum":["text","hex"],"default":"text"},` +
		`"level":{"type":"number"},` +
		`"force":{"type":"boolean"},` +
		`"edits":{"type":"array","maxItems":3,"items":{"type":"object","properties":{` +
		`"old":{"type":"string","minLength":1},"count":{"type":"integer","minimum":0,"default":1}},"required":["old"]}},` +
		`"env":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"any":{},` +
		`"size":{"type":"integer","enum":[1,2],"minimum":0}` +
		`},"required":["description","path","Plain"]}`
	got := string(tell[everything](t, Spec{}).Spec().Parameters)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if got := string(tell[struct{}](t, Spec{}).Spec().Parameters); got != noParameters {
		t.Errorf("schema of no fields: %s", got)
	}
}

func TestNewDecodes(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"defaults", `{"description":"d","path":"p","Plain":[]}`,
			`{"limit":100,"description":"d","path":"p","mode":"text","level":null,"Plain":[]}`},
		{"defaults in a list", `{"description":"d","path":"p","Plain":[],"edits":[{"old":"a"},{"old":"b","count":2}]}`,
			`{"limit":100,"description":"d","path":"p","mode":"text","level":null,"edits":[{"old":"a","count":1},{"old":"b","count":2}],"Plain":[]}`},
		{"repairs",
			`{"description":"d","path":5,"Plain":"x","limit":"7","level":null,"force":"true","env":"{\"A\":\"1\"}"}`,
			`{"limit":7,"description":"d","path":"5","mode":"text","level":null,"force":true,"env":{"A":"1"},"Plain":["x"]}`},
		{"null of an optional property", `{"description":"d","path":"p","Plain":[],"limit":null}`,
			`{"limit":100,"description":"d","path":"p","mode":"text","level":null,"Plain":[]}`},
		{"any value", `{"description":"d","path":"p","Plain":[],"any":{"b":1,"a":[2.50]}}`,
			`{"limit":100,"description":"d","path":"p","mode":"text","level":null,"any":{"b":1,"a":[2.50]},"Plain":[]}`},
		{"another case is another name",
			`{"description":"d","path":"p","Plain":[],"LIMIT":5000,"edits":[{"old":"a","Count":-1}]}`,
			`{"limit":100,"description":"d","path":"p","mode":"text","level":null,"edits":[{"old":"a","count":1}],"Plain":[]}`},
	}
	tool := tell[everything](t, Spec{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, tool, tt.args)
			if diff := cmp.Diff(tt.want, r.Text()); r.IsError || diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewTellsTheModelWhatIsWrong(t *testing.T) {
	tool := tell[edit](t, Spec{})
	if r := run(t, tool, `{"old":""}`); !r.IsError ||
		r.Text() != `Invalid arguments for this tool: "old" must have at least 1 characters, got 0.` {
		t.Errorf("got %+v", r)
	}
	small := tell[struct{ N int8 }](t, Spec{})
	if r := run(t, small, `{"N":300}`); !r.IsError ||
		r.Text() != `Invalid arguments for this tool: "N" cannot hold the number 300; its type is int8.` {
		t.Errorf("got %+v", r.Text())
	}
}

func TestNewWithGivenParameters(t *testing.T) {
	const given = `{"type":"object","properties":{"n":{"type":"integer","default":3},"m":{"type":"integer"}}}`
	type args struct{ N int }
	spec := Spec{Parameters: json.RawMessage(given)}
	if tool := tell[args](t, spec); string(tool.Spec().Parameters) != given {
		t.Errorf("parameters became %s", tool.Spec().Parameters)
	} else if r := run(t, tool, `{}`); r.Text() != `{"N":3}` {
		t.Errorf("struct: %s", r.Text())
	}
	if r := run(t, tell[json.RawMessage](t, spec), `{"n":"1","N":2}`); r.Text() != `{"n":1,"N":2}` {
		t.Errorf("raw: %s", r.Text())
	}
}

func TestNewErrors(t *testing.T) {
	type loop struct{ Next []*loop }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"name", try[struct{}](Spec{Name: "a b"}), `make tool: tool name "a b" holds ' '`},
		{"parameters", try[struct{}](Spec{Name: "x", Parameters: json.RawMessage(`{`)}), `make tool x: parse schema:`},
		{"parameters of no object", try[struct{}](Spec{Name: "x", Parameters: json.RawMessage(`{"type":"array"}`)}),
			`no object fits`},
		{"no struct", try[string](Spec{Name: "x"}), `infer schema of string: arguments must be a struct`},
		{"duration", try[struct{ D time.Duration }](Spec{Name: "x"}), `field D: type time.Duration is not supported`},
		{"time", try[struct{ D time.Time }](Spec{Name: "x"}), `type time.Time is not supported`},
		{"bytes", try[struct{ D []byte }](Spec{Name: "x"}), `type []uint8 is not supported`},
		{"channel", try[struct{ D chan int }](Spec{Name: "x"}), `type chan int is not supported`},
		{"map key", try[struct{ D map[int]string }](Spec{Name: "x"}), `type map[int]string is not supported`},
		{"recursion", try[loop](Spec{Name: "x"}), `contains itself`},
		{"twice", try[struct {
			mixin
			Description string `json:"description"`
		}](Spec{Name: "x"}), `two fields are named "description"`},
		{"string option", try[struct {
			A int `json:"a,string"`
		}](Spec{Name: "x"}), `json option "string" is not supported`},
		{"embedded pointer", try[struct{ *mixin }](Spec{Name: "x"}),
			`only a struct without a json tag can be embedded`},
		{"default of another type", try[struct {
			A int `default:"ten"`
		}](Spec{Name: "x"}), `field A: bad enum, min, max or default tag`},
		{"default out of bounds", try[struct {
			A int `default:"0" min:"1"`
		}](Spec{Name: "x"}), `field A: default tag 0 does not fit`},
		{"default outside the enum", try[struct {
			A string `default:"c" enum:"a,b"`
		}](Spec{Name: "x"}), `field A: default tag "c" does not fit`},
		{"enum of another type", try[struct {
			A int `enum:"1,1.5"`
		}](Spec{Name: "x"}), `field A: enum tag: 1.5 does not fit`},
		{"bound", try[struct {
			A int `min:"one"`
		}](Spec{Name: "x"}), `field A: bound "one" is not a number`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("got %v, want %s", tt.err, tt.want)
			}
		})
	}
	if _, err := New[struct{}](Spec{Name: "x"}, nil); err == nil {
		t.Error("no function: no error")
	}
}

func try[In any](spec Spec) error {
	_, err := New(spec, func(context.Context, *Call, In) (*Result, error) { return Text(""), nil })
	return err
}

func TestMustNewPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustNew(Spec{Name: ""}, func(context.Context, *Call, struct{}) (*Result, error) { return nil, nil })
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"bash": true, "Read-File_2": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "a.b": false, "ä": false, "a\n": false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func ExampleNew() {
	type args struct {
		Path  string `json:"path" doc:"The file to read."`
		Limit int    `json:"limit" default:"100" min:"1" max:"1000"`
	}
	read, err := New(Spec{Name: "read_file", Effect: ReadOnly},
		func(_ context.Context, _ *Call, in args) (*Result, error) {
			return Text(fmt.Sprintf("%d lines of %s", in.Limit, in.Path)), nil
		})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(read.Spec().Parameters))
	for _, sent := range []string{`{"path":"a.txt"}`, `{"path":"a.txt","limit":"5"}`, `{"limit":0}`} {
		result, err := read.Run(context.Background(), &Call{Args: json.RawMessage(sent)})
		fmt.Println(result.Text(), err)
	}
	// Output:
	// {"type":"object","properties":{"path":{"type":"string","description":"The file to read."},"limit":{"type":"integer","minimum":1,"maximum":1000,"default":100}},"required":["path"]}
	// 100 lines of a.txt <nil>
	// 5 lines of a.txt <nil>
	// Invalid arguments for this tool: "limit" must be at least 1, got the number 0; "path" is required. <nil>
}

func TestSpecKnowsItsSchema(t *testing.T) {
	spec := MustNew(Spec{Name: "x"}, func(context.Context, *Call, struct {
		Path string `json:"path"`
	}) (*Result, error) {
		return nil, nil
	}).Spec()
	first, err := spec.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := spec.Schema(); again != first {
		t.Error("the schema was parsed again")
	}
	spec.Parameters = json.RawMessage(`{"type":"object","required":["other"]}`)
	other, err := spec.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Check(json.RawMessage(`{"path":"p"}`)); err == nil {
		t.Error("the schema is not that of the parameters, which were changed")
	}
	spec.Parameters = json.RawMessage(`{`)
	if _, err := spec.Schema(); err == nil {
		t.Error("broken parameters have a schema")
	}
}
