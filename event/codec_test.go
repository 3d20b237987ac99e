package event

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var oddJSON = json.RawMessage("{ \"a\":  1.50,\n\"<\":\"\\u003c\" }")

// samples has, per kind, data with every field set and the exact JSON of it.
var samples = map[Kind]struct {
	data Data
	json string
}{
	KindRun: {Run{Status: StatusError, Error: "<no> model\n", StopReason: "turn_capped"},
		`{"status":"error","error":"<no> model\n","stop_reason":"turn_capped"}`},
	KindState: {State{Writes: oddJSON, Checkpoint: "c", Next: "n", Last: true}, `{"writes":` + string(oddJSON) +
		`,"checkpoint":"c","next":"n","last":true}`},
	KindMessage: {Message{MessageID: "m", First: 3, Chunks: []Cut{{Reasoning: 1, Text: 2, Args: []int{0, 5, 1, 6},
		Skip: 3}, {}, {Piece: &Chunk{Text: "<"}}},
		Call: &Call{Try: Try{Took: 3}}}, `{"message_id":"m","first":3,"chunks":[{"r":1,"t":2,"a":[0,5,1,6],"s":3},{},{"p":{"message_id":"","text":"<"}}],"call":{"b":0,"t":3}}`},
	KindCall: {Call{Try: Try{"m", 1, 2, 3, "busy", "<"}, MessageID: "id",
		Before: []Try{{Model: "x", Began: 1, Took: 1}, {}},
		Sent:   oddJSON},
		`{"m":"m","b":1,"f":2,"t":3,"c":"busy","e":"<","message_id":"id","tries":[{"m":"x","b":1,"t":1},{"b":0,"t":0}],"sent":` + string(oddJSON) + `}`},
	KindDiscard: {Discard{MessageID: "m", Reason: "retry"}, `{"message_id":"m","reason":"retry"}`},
	KindToolStart: {ToolStart{CallID: "c", MessageID: "m", Tool: "ls", Args: oddJSON},
		`{"call_id":"c","message_id":"m","tool":"ls","args":` + string(oddJSON) + `}`},
	KindToolEnd: {ToolEnd{CallID: "c", MessageID: "m", Tool: "ls", IsError: true, Writes: oddJSON, Goto: "end",
		Summary: "s", Millis: 7}, `{"call_id":"c","message_id":"m","tool":"ls","is_error":true,"writes":` +
		string(oddJSON) + `,"goto":"end","summary":"s","millis":7}`},
	KindInterrupt: {Interrupt{InterruptID: "i", CallID: "c", Value: oddJSON},
		`{"interrupt_id":"i","call_id":"c","value":` + string(oddJSON) + `}`},
	KindChild:  {Child{RunID: "r", Attempt: 1, N: 2}, `{"run_id":"r","attempt":1,"n":2}`},
	KindCustom: {Custom{Value: oddJSON}, `{"value":` + string(oddJSON) + `}`},
	KindChunk: {Chunk{MessageID: "m", Text: "🦌", Reasoning: "r",
		ToolCalls: []ToolCallChunk{{Index: 1, ID: "c", Name: "ls", Args: `{"`},
			{}}},
		`{"message_id":"m","text":"🦌","reasoning":"r","tool_calls":[{"index":1,"id":"c","name":"ls","args":"{\""},{"index":0}]}`},
	KindProgress: {Progress{CallID: "c", Text: "t"}, `{"call_id":"c","text":"t"}`},
}

// declaredKinds reads the Kind constants out of event.go, so that a new one cannot be forgotten below.
func declaredKinds(t *testing.T) []Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Kind" {
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, Kind(name))
		}
		return true
	})
	if len(kinds) < 10 {
		t.Fatalf("only %d kinds found", len(kinds))
	}
	return kinds
}

func TestEveryKindSurvives(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 47, 10, 123456789, time.UTC)
	for _, kind := range declaredKinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			sample, ok := samples[kind]
			if !ok || decoders[kind] == nil {
				t.Fatal("the kind has no sample here or no decoder in codec.go")
			}
			allFieldsSet(t, sample.data)
			e := Event{ID: ID{2, 7}, Time: at, Node: "model", Namespace: []string{"call_1"}, Open: 4, Data: sample.data}
			b, err := e.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"id":"2-7","time":"2026-11-21T10:47:10.123456789Z","kind":"` + string(kind) +
				`","node":"model","ns":["call_1"],"open":4,"data":` + sample.json + `}`
			if d := cmp.Diff(want, string(b)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			checkSurvives(t, e, b)
			checkSurvives(t, e, compact(t, e))
			zero := Event{Data: reflect.Zero(reflect.TypeOf(sample.data)).Interface().(Data)}
			if b, err = zero.AppendJSON(nil); err != nil {
				t.Fatal(err)
			}
			var got Event
			if err := json.Unmarshal(b, &got); err != nil || !cmp.Equal(zero, got) {
				t.Errorf("zero data: %s: %v, %+v", b, err, got)
			}
		})
	}
}

// allFieldsSet demands a value of every field but those that are never encoded.
func allFieldsSet(t *testing.T, d Data) {
	t.Helper()
	v := reflect.ValueOf(d)
	for i := range v.NumField() {
		if v.Field(i).IsZero() && v.Type().Field(i).Tag.Get("json") != "-" {
			t.Errorf("the sample does not set %s", v.Type().Field(i).Name)
		}
	}
}

// made is an update that must not be encoded.
type made struct{}

func (made) AppendJSON([]byte) ([]byte, error) { panic("the bytes are there") }

func TestUpdateStaysInTheProcess(t *testing.T) {
	e := Event{ID: ID{1, 2}, Data: State{Writes: oddJSON, Last: true, Update: made{}}}
	b, err := e.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Data = State{Writes: oddJSON, Last: true}
	checkSurvives(t, e, b)
}

// compact is e as json.Marshal writes it.
func compact(t *testing.T, e Event) []byte {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkSurvives(t *testing.T, e Event, b []byte) {
	t.Helper()
	var got Event
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	sameJSON := cmp.FilterPath(func(cmp.Path) bool { return true }, cmp.Comparer(func(a, b json.RawMessage) bool {
		var x, y any
		return string(a) == string(b) || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
	}))
	if d := cmp.Diff(e, got, sameJSON); d != "" {
		t.Errorf("does not survive (-want +got)\n%s", d)
	}
}

func TestExactBytesSurvive(t *testing.T) {
	b, err := Event{Data: ToolEnd{Writes: oddJSON}}.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var e Event
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	if got := e.Data.(ToolEnd).Writes; string(got) != string(oddJSON) {
		t.Errorf("writes are %s, want %s", got, oddJSON)
	}
}

func TestUnknownKindSurvives(t *testing.T) {
	const in = `{"id":"1-2","time":"2026-11-21T10:47:10Z","kind":"new","data":[1,  2]}`
	var e Event
	if err := json.Unmarshal([]byte(in), &e); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Data(Unknown{KindName: "new", Raw: json.RawMessage("[1,  2]")}), e.Data); d != "" {
		t.Error(d)
	}
	b, err := e.AppendJSON(nil)
	if err != nil || string(b) != in {
		t.Errorf("%s, %v", b, err)
	}
}

type foreign struct{}

func (foreign) Kind() Kind { return "foreign" }

func TestEncodeErrors(t *testing.T) {
	bad := json.RawMessage("{")
	for want, e := range map[string]Event{
		"encode event 1-2: it has no data":               {ID: ID{1, 2}},
		"encode event 0-0: it has no data":               {Data: Unknown{}},
		"data: writes: not valid JSON":                   {Data: State{Writes: bad}},
		"data: args: not valid JSON":                     {Data: ToolStart{Args: bad}},
		"data: value: not valid JSON":                    {Data: Custom{Value: bad}},
		"data: not valid JSON":                           {Data: Unknown{KindName: "x", Raw: bad}},
		"data: event.foreign is no type of this package": {Data: foreign{}},
		"year 10000 has no RFC 3339 form": {Data: Run{},
			Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"data: *event.Unknown is no type of this package": {Data: &Unknown{KindName: "x"}},
	} {
		b, err := e.AppendJSON(nil)
		if b != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, error %v, want %q", b, err, want)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                                            "decode event: ",
		`{"id":"1","kind":"run","data":{}}`:             `event id "1" is not of the form`,
		`{"id":"1-1","data":{}}`:                        "decode event 1-1: it has no kind or no data",
		`{"id":"1-1","kind":"run"}`:                     "decode event 1-1: it has no kind or no data",
		`{"id":"1-1","kind":"run","data":[]}`:           `decode event 1-1: data of kind "run": `,
		`{"id":"1-1","kind":"run","time":"now"}`:        "decode event: ",
		`{"id":"1-1","kind":"chunk","data":{"text":1}}`: `data of kind "chunk": `,
	} {
		e := Event{Node: "before"}
		if err := json.Unmarshal([]byte(in), &e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", in, err, want)
		}
		if e.Node != "before" {
			t.Errorf("%s: changed on error", in)
		}
	}
}

func TestParseID(t *testing.T) {
	good := map[string]ID{"0-0": {}, "1-7": {1, 7}, "12-9223372036854775807": {12, 1<<63 - 1}}
	for s, want := range good {
		if got, err := ParseID(s); err != nil || got != want || got.String() != s {
			t.Errorf("ParseID(%q) = %v, %v", s, got, err)
		}
	}
	for _, s := range []string{
		"", "-", "1", "1-", "-1", "1-2-3", "-1-2", "1--2", "+1-2", "1-+2", " 1-2", "1-2 ", "1 -2", "01-2", "1-02",
		"00-0", "1-9223372036854775808", "99999999999999999999-1", "1_0-2", "1-0x2", "1.0-2", "１-2",
	} {
		if got, err := ParseID(s); err == nil {
			t.Errorf("ParseID(%q) = %v, want an error", s, got)
		}
	}
}

func TestCompare(t *testing.T) {
	sorted := []ID{{0, 0}, {1, 1}, {1, 2}, {2, 1}}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := a.Compare(b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%v.Compare(%v) = %d", a, b, got)
			}
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, s := range samples {
		b, err := Event{ID: ID{1, 1}, Node: "n", Namespace: []string{"a"}, Data: s.data}.AppendJSON(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"id":"1-1","kind":"\ud800","data":null,"time":"0000-01-01T00:00:00+23:59"}`))
	f.Add([]byte(`{"id":"1-1","kind":"state","data":null,"time":"9999-12-31T23:59:59.5-01:00"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e, again Event
		if json.Unmarshal(raw, &e) != nil {
			return
		}
		first, err := e.AppendJSON(nil)
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("own output %s: %v", first, err)
		}
		if second, err := again.AppendJSON(nil); err != nil || string(second) != string(first) {
			t.Fatalf("no fixed point: %v\n%s\n%s", err, first, second)
		}
	})
}

func FuzzParseID(f *testing.F) {
	f.Add("1-2")
	f.Add("01-+2")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseID(s); err == nil && id.String() != s {
			t.Errorf("%q was read as %v", s, id)
		}
	})
}

func BenchmarkEncodeChunk(b *testing.B) {
	e := Event{ID: ID{1, 100}, Time: time.Now(), Node: "model",
		Data: Chunk{MessageID: "0190b7c8-7f1e-7a54-9a30-0242ac120002", Text: " word"}}
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.AppendJSON(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseID(b *testing.B) {
	for b.Loop() {
		if _, err := ParseID("3-123456"); err != nil {
			b.Fatal(err)
		}
	}
}
