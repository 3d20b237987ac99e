package state

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestChannels(t *testing.T) {
	s := apply(t, State{}, titleCh.Put("a").With(sumCh.Put(2), sumCh.Put(3)))
	if titleCh.Get(s) != "a" || sumCh.Get(s) != 5 || !s.Has("sum") || s.Has("log") {
		t.Errorf("title %q, sum %d", titleCh.Get(s), sumCh.Get(s))
	}
	next := apply(t, s, titleCh.Put("b").With(sumCh.Overwrite(1), sumCh.Put(1)))
	if titleCh.Get(next) != "b" || sumCh.Get(next) != 2 || titleCh.Get(s) != "a" || sumCh.Get(s) != 5 {
		t.Error("overwrite is wrong, or the old state changed")
	}
	gone := apply(t, next, sumCh.Delete())
	if gone.Has("sum") || sumCh.Get(gone) != 0 || sumCh.Get(next) != 2 {
		t.Error("delete is wrong, or the old state changed")
	}
	if got := sumCh.Get(apply(t, gone, sumCh.Put(4))); got != 4 {
		t.Errorf("after delete the reducer began with %d", got-4)
	}
	_, _, err := s.Apply(sumCh.Put(-1))
	wantErr(t, err, `channel "sum": negative`)
}

func TestApplyNamesWhatChanged(t *testing.T) {
	_, changed, err := State{}.Apply(sumCh.Put(1).With(titleCh.Put("a"), sumCh.Put(1), secretCh.Delete()))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "changed", []string{"sum", "title", "secret"}, changed)
	same, changed, err := State{}.Apply(nil)
	if err != nil || changed != nil || same.cells != nil {
		t.Errorf("an empty update changed %v, %v", changed, err)
	}
}

func TestWithLeavesItsReceiver(t *testing.T) {
	u := make(Update, 0, 8).With(titleCh.Put("a"))
	one, two := u.With(titleCh.Put("b")), u.With(titleCh.Put("c"))
	if len(u) != 1 || titleCh.Get(apply(t, State{}, one)) != "b" || titleCh.Get(apply(t, State{}, two)) != "c" {
		t.Error("updates share memory")
	}
}

func TestNilOfAnInterfaceType(t *testing.T) {
	ch := LastValue[any]("any")
	s := apply(t, apply(t, State{}, ch.Put(1)), ch.Put(nil))
	if ch.Get(s) != nil || !s.Has("any") {
		t.Errorf("got %v", ch.Get(s))
	}
	diff(t, "values", map[string]string{"any": "null"}, values(t, s))
}

func TestPrivateChannelsAreStoredAndNotShown(t *testing.T) {
	s := apply(t, State{}, secretCh.Put([]string{"x"}).With(titleCh.Put("a")))
	diff(t, "values", map[string]string{"title": `"a"`}, values(t, s))
	for name, from := range map[string]Schema{"its schema": all(t), "no schema": nil} {
		s2, err := from.LoadSnapshot(snapshot(t, s))
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "with "+name, []string{"x"}, secretCh.Get(s2))
		s2 = apply(t, s2, secretCh.Put([]string{"y"}))
		if _, shown := values(t, s2)["secret"]; shown {
			t.Errorf("with %s: shown after a write", name)
		}
	}
	u, err := Schema{}.DecodeUpdate([]byte(`[{"c":"secret","op":"put","v":["z"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	if _, shown := values(t, apply(t, apply(t, State{}, u), secretCh.Put(nil)))["secret"]; shown {
		t.Error("shown after a write of an undeclared channel and one of the declared")
	}
	writes, err := secretCh.Put(nil).Writes()
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "writes", []Write{{Channel: "secret", Op: OpPut, Value: json.RawMessage("null"), Private: true}}, writes)
}

func TestUndeclaredChannelsPassThrough(t *testing.T) {
	const value = "{ \"a\":  1.50,\n\"<\": [ ] }"
	raw := `{"plug<in":` + value + `,"title":"a"}`
	s := load(t, all(t), raw)
	want := map[string]string{"plug<in": value, "title": `"a"`}
	diff(t, "loaded", want, values(t, s))
	again, err := all(t).LoadSnapshot(snapshot(t, s))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "from a snapshot", want, values(t, again))
	update := `[{"c":"plug<in","op":"put","v":` + value + `}]`
	u, err := all(t).DecodeUpdate([]byte(update))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(encodeUpdate(t, u)); got != update {
		t.Errorf("update\n%s\nbecame\n%s", update, got)
	}
	diff(t, "applied", map[string]string{"plug<in": value}, values(t, apply(t, State{}, u)))
	gone, err := all(t).DecodeUpdate([]byte(`[{"c":"plug<in","op":"delete","v":null}]`))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "deleted", map[string]string{"title": `"a"`}, values(t, apply(t, s, gone)))
}

func TestUndeclaredLog(t *testing.T) {
	stored := snapshot(t, apply(t, State{}, logCh.Append(item{ID: "a"})))
	s, err := Schema{}.LoadSnapshot(stored)
	if err != nil {
		t.Fatal(err)
	}
	if got := snapshot(t, s); string(got) != string(stored) {
		t.Errorf("snapshot\n%q\nbecame\n%q", stored, got)
	}
	decode := func(raw string) Update {
		u, err := Schema{}.DecodeUpdate([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	next := apply(t, s, decode(`[{"c":"log","op":"append","v":[{"id": "b"}]}]`))
	diff(t, "after append", map[string]string{"log": `[{"id":"a"},{"id": "b"}]`}, values(t, next))
	diff(t, "read as a log", []item{{ID: "a"}, {ID: "b"}}, logCh.Get(next))
	next = apply(t, State{}, decode(`[{"c":"log","op":"append","v":[{"id":"c"}]}]`))
	diff(t, "append to nothing", []item{{ID: "c"}}, logCh.Get(next))
	next = apply(t, State{}, decode(`[{"c":"log","op":"append","v":[]}]`))
	diff(t, "append nothing to nothing", map[string]string{"log": `[]`}, values(t, next))
	next = apply(t, s, decode(`[{"c":"log","op":"reset","v":[]}]`))
	diff(t, "after reset", map[string]string{"log": `[]`}, values(t, next))
	_, _, err = s.Apply(decode(`[{"c":"log","op":"remove","v":["a"]}]`))
	wantErr(t, err, `channel "log": remove needs the channel to be declared`)
	_, _, err = apply(t, State{}, decode(`[{"c":"log","op":"put","v":1}]`)).
		Apply(decode(`[{"c":"log","op":"append","v":[]}]`))
	wantErr(t, err, `channel "log": a list is wanted, not a number`)
	// A state that knows the channel reads the writes with it.
	typed := apply(t, apply(t, State{}, logCh.Append(item{ID: "a"}, item{ID: "b"})),
		decode(`[{"c":"log","op":"remove","v":["a"]}]`))
	diff(t, "typed state", []item{{ID: "b"}}, logCh.Get(typed))
}

func TestChannelDeclaredLater(t *testing.T) {
	s := load(t, Schema{}, `{"log":[{"id":"a"}],"sum":3,"title":7}`)
	diff(t, "log", []item{{ID: "a"}}, logCh.Get(s))
	if first, again := logCh.Get(s), logCh.Get(s); &first[0] != &again[0] {
		t.Error("the log is decoded at every Get")
	}
	if sumCh.Get(s) != 3 || titleCh.Get(s) != "" {
		t.Errorf("sum %d, title %q", sumCh.Get(s), titleCh.Get(s))
	}
	next := apply(t, s, logCh.Append(item{ID: "b"}).With(sumCh.Put(1), titleCh.Put("now text")))
	diff(t, "log after append", []item{{ID: "a"}, {ID: "b"}}, logCh.Get(next))
	if sumCh.Get(next) != 4 || titleCh.Get(next) != "now text" {
		t.Errorf("sum %d, title %q", sumCh.Get(next), titleCh.Get(next))
	}
	asList := LastValue[[]item]("log")
	stored, err := schema(t, asList).LoadSnapshot(snapshot(t, next))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "a log read as one value", []item{{ID: "a"}, {ID: "b"}}, asList.Get(stored))
	diff(t, "one channel under two types", []item(nil), logCh.Get(apply(t, State{}, asList.Put([]item{{ID: "a"}}))))
}

func TestCheck(t *testing.T) {
	good := load(t, all(t), `{"log":[{"id":"a"}],"sum":3,"title":"a","other":1}`)
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for raw, want := range map[string]string{
		`{"sum":"3"}`:               `state channel "sum": decode value: `,
		`{"log":[{"id":"a"},3]}`:    `state channel "log": item 1: `,
		`{"title":{}, "secret":[]}`: `state channel "title": `,
	} {
		s := load(t, all(t), raw)
		wantErr(t, s.Check(), want)
		if sumCh.Get(s) != 0 || titleCh.Get(s) != "" || logCh.Get(s) != nil {
			t.Errorf("%s: what cannot be decoded must read as zero", raw)
		}
	}
	broken, err := Schema{}.Load(map[string]json.RawMessage{"other": json.RawMessage("{")})
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, broken.Check(), `state channel "other": the value is not JSON`)
}

func TestLoadErrors(t *testing.T) {
	for want, values := range map[string]map[string]json.RawMessage{
		`channel "log": a list is wanted, not an object`: {"log": json.RawMessage(`{}`)},
		`channel "log": unexpected end`:                  {"log": json.RawMessage(`[`)},
		`channel "title" has no value`:                   {"title": nil},
	} {
		_, err := all(t).Load(values)
		wantErr(t, err, "load state: "+want)
	}
	diff(t, "a log that is null", []item{}, logCh.Get(load(t, all(t), `{"log":null}`)))
}

// counted counts how often it is encoded and decoded.
type counted struct{}

var encodes, decodes int

func (counted) MarshalJSON() ([]byte, error)   { encodes++; return []byte("1"), nil }
func (counted) UnmarshalJSON(raw []byte) error { decodes++; return nil }

func TestValuesAreCodedOnce(t *testing.T) {
	ch := LastValue[counted]("c")
	encodes, decodes = 0, 0
	s := apply(t, State{}, ch.Put(counted{}))
	if encodes != 0 {
		t.Error("encoded before anybody wanted it")
	}
	for range 2 {
		values(t, s)
		snapshot(t, s)
	}
	if encodes != 1 {
		t.Errorf("encoded %d times", encodes)
	}
	for name, sch := range map[string]Schema{"declared": schema(t, ch), "undeclared": nil} {
		loaded, err := sch.LoadSnapshot(snapshot(t, s))
		if err != nil {
			t.Fatal(err)
		}
		values(t, loaded)
		if decodes != 0 {
			t.Errorf("%s: decoded before anybody wanted it", name)
		}
		ch.Get(loaded)
		ch.Get(loaded)
		if decodes != 1 || encodes != 1 {
			t.Errorf("%s: decoded %d times, encoded %d times", name, decodes, encodes)
		}
		decodes = 0
	}
}

func TestSchemaRefusesTwoChannelsOfOneName(t *testing.T) {
	_, err := NewSchema(titleCh, titleCh, LastValue[string]("title"))
	wantErr(t, err, `state channel "title" is declared twice`)
	if _, err := NewSchema(titleCh, titleCh); err != nil {
		t.Error(err)
	}
}

func TestDeclaringDoesNotTouchOtherStates(t *testing.T) {
	sch := schema(t, titleCh)
	base := load(t, sch, `{"secret":["x"]}`)
	apply(t, base, secretCh.Put(nil).With(sumCh.Put(1)))
	if len(sch) != 1 || len(base.chans) != 1 {
		t.Errorf("schema has %d channels, the old state %d", len(sch), len(base.chans))
	}
}

type unwritable struct{}

func (unwritable) AppendJSON([]byte) ([]byte, error) { return nil, errors.New("no ink") }
func (unwritable) UnmarshalJSON([]byte) error        { return nil }

type silent struct{}

func (silent) AppendJSON(b []byte) ([]byte, error) { return b, nil }

func TestEncodeErrorsNameTheChannel(t *testing.T) {
	lost := Log("lost", func(unwritable) string { return "1" })
	for name, u := range map[string]Update{
		"bad":    LastValue[unwritable]("bad").Put(unwritable{}),
		"lost":   lost.Append(unwritable{}),
		"silent": LastValue[silent]("silent").Put(silent{}),
		"chan":   LastValue[chan int]("chan").Put(nil),
	} {
		want := `encode channel "` + name + `": `
		s := apply(t, State{}, u)
		_, err := u.AppendJSON(nil)
		wantErr(t, err, want)
		_, err = s.Values()
		wantErr(t, err, want)
		_, err = s.AppendSnapshot(nil)
		wantErr(t, err, want)
	}
}

func BenchmarkLoadSnapshot(b *testing.B) {
	items := make([]item, 4000)
	for i := range items {
		items[i] = item{ID: time.Unix(int64(i), 0).String(), Text: strings.Repeat("x", 2000)}
	}
	raw := snapshot(b, apply(b, State{}, logCh.Append(items...)))
	sch := all(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sch.LoadSnapshot(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodeUpdate is an update whose values are encoded already, as it is stored and shown.
func BenchmarkEncodeUpdate(b *testing.B) {
	u := logCh.Append(item{ID: "1", Text: strings.Repeat("word ", 100)}).With(titleCh.Put("title")).With(sumCh.Put(1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.AppendJSON(nil); err != nil {
			b.Fatal(err)
		}
	}
}
