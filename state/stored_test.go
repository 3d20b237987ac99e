package state

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDecodeUpdateErrors(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`:                         "decode update: ",
		`[{"op":"put","v":1}]`:       "write 0 has no channel or no value",
		`[{"c":"title","op":"put"}]`: "write 0 has no channel or no value",
		`[{"c":"sum","op":"put","v":1},{"c":"title","op":"put","v":1}]`: `write 1: channel "title": `,
		`[{"c":"title","op":"append","v":[]}]`:                          `write 0: channel "title" has no operation "append"`,
		`[{"c":"log","op":"put","v":[]}]`:                               `channel "log" has no operation "put"`,
		`[{"c":"log","op":"append","v":null}]`:                          `channel "log": a list is wanted, not null`,
		`[{"c":"log","op":"reset","v":null}]`:                           `channel "log": a list is wanted, not null`,
		`[{"c":"log","op":"remove","v":null}]`:                          `channel "log": a list is wanted, not null`,
		`[{"c":"log","op":"remove","v":[1]}]`:                           `channel "log": `,
		`[{"c":"log","op":"append","v":[{"id":"a"},{}]}]`:               `channel "log": item 1 of the update has no id`,
		`[{"c":"log","op":"append","v":[null]}]`:                        `channel "log": item 0 of the update has no id`,
		`[{"c":"log","op":"append","v":[{"id":1}]}]`:                    `channel "log": item 0: `,
		`[{"c":"other","op":"append","v":null}]`:                        `channel "other": a list is wanted, not null`,
		`[{"c":"other","op":"\",\"","v":1}]`:                            `channel "other" has no operation "\",\""`,
	} {
		_, err := all(t).DecodeUpdate([]byte(raw))
		wantErr(t, err, want)
	}
}

func TestUpdateJSON(t *testing.T) {
	u := titleCh.Put("<a>").With(sumCh.Overwrite(2), sumCh.Delete(), logCh.Append(item{ID: "x"}), logCh.Reset(),
		logCh.Remove())
	const want = `[{"c":"title","op":"put","v":"\u003ca\u003e"},{"c":"sum","op":"overwrite","v":2},{"c":"sum","op":"delete","v":null},` +
		`{"c":"log","op":"append","v":[{"id":"x"}]},{"c":"log","op":"reset","v":[]},{"c":"log","op":"remove","v":[]}]`
	if got := string(encodeUpdate(t, u)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if b, err := json.Marshal(u); err != nil || string(b) != want {
		t.Errorf("json.Marshal: %s, %v", b, err)
	}
	long := strings.Repeat("x", 200)
	if got := string(encodeUpdate(t, LastValue[string](long).Put(long))); got != `[{"c":"`+long+`","op":"put","v":"`+
		long+`"}]` {
		t.Errorf("a long update is %s", got)
	}
	if got := string(encodeUpdate(t, LastValue[string](long).Put(""))); got != `[{"c":"`+long+`","op":"put","v":""}]` {
		t.Errorf("an update of a long name is %s", got)
	}
	if got := string(encodeUpdate(t, nil)); got != "[]" {
		t.Errorf("an empty update is %s", got)
	}
}

// genUpdate draws an update that any state of the four channels accepts.
func genUpdate(t *rapid.T) Update {
	var u Update
	for range rapid.IntRange(0, 3).Draw(t, "writes") {
		switch rapid.IntRange(0, 6).Draw(t, "channel") {
		case 0:
			u = u.With(titleCh.Put(rapid.String().Draw(t, "title")))
		case 1:
			u = u.With(sumCh.Put(rapid.IntRange(0, 9).Draw(t, "n")))
		case 2:
			u = u.With(sumCh.Overwrite(rapid.Int().Draw(t, "n")))
		case 3:
			u = u.With(sumCh.Delete())
		case 4:
			u = u.With(secretCh.Put(rapid.SliceOf(rapid.String()).Draw(t, "secret")))
		case 5:
			u = u.With(logCh.Reset(rapid.SliceOfN(genItem, 0, 3).Draw(t, "items")...))
		default:
			u = u.With(logCh.Append(rapid.SliceOfN(genItem, 0, 3).Draw(t, "items")...))
		}
	}
	return u
}

// TestReplayEqualsTyped applies updates as they are and as they were stored, partly from a snapshot, and demands the
// same bytes.
func TestReplayEqualsTyped(t *testing.T) {
	sch := all(t)
	rapid.Check(t, func(t *rapid.T) {
		var typed, replayed State
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			u := genUpdate(t)
			typed = apply(t, typed, u)
			stored, err := sch.DecodeUpdate(encodeUpdate(t, u))
			if err != nil {
				t.Fatal(err)
			}
			replayed = apply(t, replayed, stored)
			if rapid.Bool().Draw(t, "snapshot") {
				if replayed, err = sch.LoadSnapshot(snapshot(t, replayed)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d := cmp.Diff(values(t, typed), values(t, replayed)); d != "" {
			t.Fatal(d)
		}
		if !bytes.Equal(snapshot(t, typed), snapshot(t, replayed)) {
			t.Fatal("snapshots differ")
		}
		if err := replayed.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLoadSnapshotErrors(t *testing.T) {
	good := snapshot(t, apply(t, State{}, titleCh.Put("a").With(logCh.Append(item{ID: "a"}, item{ID: "b"}))))
	for n := range good {
		s, err := all(t).LoadSnapshot(good[:n])
		if err == nil && len(s.cells) == 2 {
			t.Errorf("%d of %d bytes were accepted", n, len(good))
		}
	}
	for tail, want := range map[string]string{
		"\x01\x05titl":                       "cut off",
		"\x01":                               "cut off", // no length of the name
		"\x01\x01a":                          "cut off", // no length of the value
		"\x02\x01a":                          "cut off", // no count
		"\x02\x01a\x01":                      "cut off",
		"\x02\x03log\x01\x05{":               "cut off",
		"\x02\x03log\x01\x00\x00":            "empty value",
		"\x01" + strings.Repeat("\xff", 11):  "cut off", // a length above 64 bits
		"\x09\x01a\x011":                     "unknown kind 9",
		"\x01\x01a\x00":                      "empty value",
		"\x01\x01a\x011\x01\x01a\x012":       "comes twice",
		"\x02\x01a\xff\xff\xff\xff\x0f\x011": "state snapshot ",
	} {
		_, err := all(t).LoadSnapshot([]byte(snapshotMagic + tail))
		wantErr(t, err, want)
	}
	s, err := all(t).LoadSnapshot([]byte(snapshotMagic + "\x02\x01a\x02\x011\x012")) // items as short as can be
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "short items", map[string]string{"a": "[1,2]"}, values(t, s))
	_, err = all(t).LoadSnapshot([]byte("pudu-state\x02"))
	wantErr(t, err, "unknown format; a newer Pudu may have written it")
}

func FuzzLoadSnapshot(f *testing.F) {
	f.Add(snapshot(f, State{}))
	f.Add(snapshot(f, apply(f, State{}, titleCh.Put("a").With(logCh.Append(item{ID: "a"}, item{ID: "b"}),
		sumCh.Put(1)))))
	f.Add([]byte(snapshotMagic + "\x02\x01x\x02\x011\x012\x01\x03log\x04[1,2"))
	sch := all(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := sch.LoadSnapshot(raw)
		if err != nil {
			return
		}
		first := snapshot(t, s)
		again, err := sch.LoadSnapshot(first)
		if err != nil {
			t.Fatalf("own snapshot %q: %v", first, err)
		}
		if second := snapshot(t, again); !bytes.Equal(first, second) {
			t.Fatalf("no fixed point:\n%q\n%q", first, second)
		}
		if s.Check() != nil {
			return
		}
		for name, v := range values(t, s) {
			if !json.Valid([]byte(v)) {
				t.Errorf("channel %q: %q is no JSON", name, v)
			}
		}
		next, _, err := s.Apply(logCh.Append(item{ID: "fresh"}))
		if err != nil || len(logCh.Get(next)) < 1 {
			t.Errorf("append to a checked state: %v", err)
		}
	})
}

func FuzzDecodeUpdate(f *testing.F) {
	f.Add([]byte(`[{"c":"title","op":"put","v":"a"},{"c":"x","op":"put","v":{ }},{"c":"log","op":"append","v":[{"id":"a"},{"id":"a"}]}]`))
	f.Add([]byte(`[{"c":"x","op":"append","v":[ 1 ]},{"c":"x","op":"append","v":[2]},{"c":"x","op":"reset","v":[]},{"c":"x","op":"delete","v":0}]`))
	f.Add([]byte(`[{"c":"log","op":"remove","v":["a"]},{"c":"sum","op":"put","v":-1},{"c":"\ud800","op":"put","v":null}]`))
	sch := all(f)
	base := apply(f, State{}, logCh.Append(item{ID: "a"}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, err := sch.DecodeUpdate(raw)
		if err != nil {
			return
		}
		first := encodeUpdate(t, u)
		again, err := sch.DecodeUpdate(first)
		if err != nil {
			t.Fatalf("own output %s: %v", first, err)
		}
		if second := encodeUpdate(t, again); !bytes.Equal(first, second) {
			t.Fatalf("no fixed point:\n%s\n%s", first, second)
		}
		next, _, err := base.Apply(u)
		replayed, _, err2 := base.Apply(again)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("applied: %v, replayed: %v", err, err2)
		}
		if d := cmp.Diff(values(t, next), values(t, replayed)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]item{{ID: "a"}}, logCh.Get(base)); d != "" {
			t.Error("the base changed: " + d)
		}
	})
}

func TestEncodedIsValuesTakenApart(t *testing.T) {
	s := apply(t, load(t, all(t), `{"log":[{"id":"a"}],"title":"t","secret":["x"]}`), logCh.Append(item{ID: "b"}))
	before, err := s.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	if len(before) != 2 || before[0].Channel != "log" || len(before[0].Items) != 2 || before[1].Channel != "title" ||
		string(before[1].Raw) != `"t"` {
		t.Errorf("encoded: %+v", before)
	}
	after, err := apply(t, s, logCh.Append(item{ID: "c"})).Encoded()
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range before[0].Items {
		if &it[0] != &after[0].Items[i][0] {
			t.Errorf("item %d was encoded again", i)
		}
	}
}

func TestEncodedItem(t *testing.T) {
	s := load(t, all(t), `{"log":[{"id":"a"},{"id":"b"}]}`)
	if got, err := logCh.Encoded(s, 1); string(got) != `{"id":"b"}` || err != nil {
		t.Errorf("before the log is decoded: %q, %v", got, err)
	}
	for i, want := range map[int]string{-1: "", 0: `{"id":"a"}`, 1: `{"id":"b"}`, 2: ""} {
		if got, err := logCh.Encoded(s, i); string(got) != want || err != nil {
			t.Errorf("item %d: %q, %v; want %q", i, got, err, want)
		}
	}
}

func TestWritesOfAStoredUpdate(t *testing.T) {
	u := logCh.Append(item{ID: "a"}).With(secretCh.Put([]string{"x"}), titleCh.Delete())
	want, err := u.Writes()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := u.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range []string{string(raw), " " + string(raw)} {
		got, err := all(t).Writes([]byte(stored))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
	if got, err := (Schema{}).Writes(raw); err != nil || got[1].Private {
		t.Errorf("without a schema: %+v, %v", got, err)
	}
	if _, err := all(t).Writes([]byte("{")); err == nil {
		t.Error("no error")
	}
}
