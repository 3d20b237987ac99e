package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// look is all that a reader can see of a state: in the given order, for the first look may decode.
func look(t fataler, s State, snapshotFirst bool) map[string]any {
	t.Helper()
	out := map[string]any{}
	if snapshotFirst {
		out["snapshot"] = string(snapshot(t, s))
	}
	out["log"], out["title"], out["sum"], out["secret"] = logCh.Get(s), titleCh.Get(s), sumCh.Get(s), secretCh.Get(s)
	out["values"] = values(t, s)
	out["snapshot"] = string(snapshot(t, s))
	out["check"] = fmt.Sprint(s.Check())
	for _, name := range []string{"log", "title", "sum", "secret", "other"} {
		out["has "+name] = s.Has(name)
	}
	return out
}

// eager applies stored updates one by one.
func eager(sch Schema, s State, updates [][]byte) (State, error) {
	for _, raw := range updates {
		u, err := sch.DecodeUpdate(raw)
		if err != nil {
			return s, err
		}
		if s, _, err = s.Apply(u); err != nil {
			return s, err
		}
	}
	return s, nil
}

// genStored draws a stored update of all channels, an undeclared one too; some updates cannot be applied to every
// state.
func genStored(t *rapid.T) []byte {
	u := genUpdate(t)
	switch rapid.IntRange(0, 6).Draw(t, "more") {
	case 0, 1:
		u, _, _ = model(nil).step(t)
	case 2:
		u = u.With(LastValue[string]("other").Put(rapid.String().Draw(t, "other")))
	case 3:
		u = u.With(Log("other log", func(i item) string { return i.ID }).
			Append(rapid.SliceOfN(genItem, 0, 3).Draw(t, "others")...))
	case 4:
		u = u.With(titleCh.Delete(), sumCh.Put(1))
	}
	raw := encodeUpdate(t, u)
	if rapid.IntRange(0, 9).Draw(t, "foreign") == 0 { // JSON that is not byte for byte what AppendJSON writes
		var b bytes.Buffer
		if err := json.Indent(&b, raw, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		raw = b.Bytes()
	}
	return raw
}

// TestReplayEqualsApply replays updates from random earlier states, some of which were looked at before and some not,
// and compares all states with the ones that Apply made.
func TestReplayEqualsApply(t *testing.T) {
	sch := all(t)
	rapid.Check(t, func(t *rapid.T) {
		empty := load(t, sch, `{}`)
		lazy, want := []State{empty}, []State{empty}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			from := len(lazy) - 1
			if rapid.IntRange(0, 3).Draw(t, "fork") == 0 {
				from = rapid.IntRange(0, from).Draw(t, "from")
			}
			updates := make([][]byte, rapid.IntRange(0, 4).Draw(t, "updates"))
			for i := range updates {
				updates[i] = genStored(t)
			}
			w, errApply := eager(sch, want[from], updates)
			l, err := lazy[from].Replay(updates...)
			if err == nil {
				err = l.Check()
			}
			if errApply != nil {
				void := bytes.Contains(bytes.Join(updates, nil), []byte("reset"))
				if !errors.Is(err, ErrNoItem) && !void {
					t.Fatalf("replay: %v, apply: %v", err, errApply)
				}
				continue
			}
			if err != nil {
				t.Fatalf("replay: %v", err)
			}
			if l, err = lazy[from].Replay(updates...); err != nil { // anew, for Check has decoded the other
				t.Fatal(err)
			}
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				look(t, l, false)
			case 1:
				if l, err = sch.LoadSnapshot(snapshot(t, l)); err != nil {
					t.Fatal(err)
				}
			case 2:
				u := genUpdate(t)
				l, w = apply(t, l, u), apply(t, w, u)
			}
			lazy, want = append(lazy, l), append(want, w)
		}
		for i := range lazy {
			first := rapid.Bool().Draw(t, "snapshot first")
			if d := cmp.Diff(look(t, want[i], first), look(t, lazy[i], first), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("state %d (-apply +replay)\n%s", i, d)
			}
		}
	})
}

func TestReplayDecodesOnFirstUse(t *testing.T) {
	ch := LastValue[counted]("c")
	decodes = 0
	put := encodeUpdate(t, ch.Put(counted{}))
	s, err := load(t, schema(t, ch), `{}`).Replay(put, put)
	if err != nil || decodes != 0 {
		t.Fatalf("decoded %d times, %v", decodes, err)
	}
	ch.Get(s)
	if decodes != 1 {
		t.Errorf("decoded %d times", decodes)
	}
	s, err = load(t, all(t), `{"log":[{"id":"a"}]}`).Replay([]byte(`[{"c":"log","op":"append","v":[{"id":"b"}]}]`))
	if err != nil || s.cells["log"].(*logCell[item]).entries != nil {
		t.Errorf("the log is decoded before its first use, %v", err)
	}
	diff(t, "the log", []item{{ID: "a"}, {ID: "b"}}, logCh.Get(s))
}

func TestReplayErrors(t *testing.T) {
	base := load(t, all(t), `{"log":[{"id":"a"}],"sum":1}`)
	for raw, want := range map[string]string{
		`{}`:                                                                "replay update 1: decode update: ",
		`[{"c":"log","op":"append","v"`:                                     "replay update 1: decode update: ",
		`[{"c":"log","op":"append"}]`:                                       "replay update 1: decode update: write 0 has no channel or no value",
		`[{"c":"","op":"put","v":1}]`:                                       "replay update 1: decode update: write 0 has no channel or no value",
		`[{"c":"a","op":"put","v":1}]]`:                                     "replay update 1: decode update: ",
		`[{"c":"a","op":"put","v":1},]`:                                     "replay update 1: decode update: ",
		`[{"c":"title","op":"a","v":1}]`:                                    `channel "title" has no operation "a"`,
		`[{"c":"log","op":"put","v":1}]`:                                    `channel "log" has no operation "put"`,
		`[{"c":"sum","op":"put","v":-1}]`:                                   `channel "sum": negative`,
		`[{"c":"sum","op":"put","v":"x"}]`:                                  `channel "sum": `,
		`[{"c":"log","op":"append","v":{}}]`:                                `channel "log": a list is wanted, not an object`,
		`[{"c":"b","op":"remove","v":["a"]}]`:                               `channel "b": remove needs the channel to be declared`,
		`[{"c":"b","op":"append","v":[1]},{"c":"b","op":"append","v":{}}]`:  `channel "b": a list is wanted, not an object`,
		`[{"c":"b","op":"put","v":1},{"c":"b","op":"append","v":[1]}]`:      `channel "b": a list is wanted, not a number`,
		`[{"c":"b","op":"append","v":[1]},{"c":"b","op":"replace","v":[]}]`: `channel "b": replace needs the channel to be declared`,
	} {
		got, err := base.Replay([]byte(`[{"c":"sum","op":"put","v":1}]`), []byte(raw))
		wantErr(t, err, want)
		diff(t, "the returned state", values(t, base), values(t, got))
	}
	// What is found on first use.
	for raw, want := range map[string]string{
		`[{"c":"title","op":"put","v":1}]`:              `state channel "title": `,
		`[{"c":"log","op":"append","v":[1]}]`:           `state channel "log": replay append: channel "log": item 0: `,
		`[{"c":"log","op":"append","v":[{"id":""}]}]`:   `state channel "log": replay append: channel "log": item 0 of the update has no id`,
		`[{"c":"log","op":"replace","v":[{"id":"b"}]}]`: `replace "b": no such item`,
		`[{"c":"log","op":"remove","v":["b"]}]`:         `remove "b": no such item`,
	} {
		s, err := base.Replay([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		wantErr(t, s.Check(), want)
		if len(logCh.Get(s)) > 1 || titleCh.Get(s) != "" {
			t.Errorf("%s: what cannot be decoded must read as zero", raw)
		}
		if want == `state channel "title": ` {
			continue
		}
		_, err = s.AppendSnapshot(nil)
		wantErr(t, err, `encode channel "log": `) // a log that lacks something must not be stored
	}
}

func TestReplayOfAnUndeclaredLog(t *testing.T) {
	var updates [][]byte
	want := "["
	for i := range 5 {
		updates = append(updates, fmt.Appendf(nil, `[{"c":"log","op":"append","v":[{"id":"%d"}]}]`, i))
		want += fmt.Sprintf(`{"id":"%d"},`, i)
	}
	updates = append(updates, []byte(`[{"c":"log","op":"append","v":[]},{"c":"log","op":"append","v":[ 7 ]}]`))
	s, err := State{}.Replay(updates...)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "values", map[string]string{"log": want + "7]"}, values(t, s))
	// One by one, each append would copy all that was before.
	appends := []storedWrite{{op: OpAppend, raw: []byte("[1]")}, {op: OpAppend, raw: []byte("[2,3]")},
		{op: OpReset, raw: []byte("[4]")}}
	if list, n := joinAppends(appends); n != 2 || string(list) != "[1,2,3]" {
		t.Errorf("%d appends are joined to %s", n, list)
	}
}

func TestReadBy(t *testing.T) {
	loaded := func(sch Schema) State { return load(t, sch, `{"log":[{"id":"a"}],"secret":["x"],"other":1}`) }
	full, part := all(t), schema(t, logCh)
	if got, ok := apply(t, loaded(full), titleCh.Put("t")).ReadBy(full); !ok || titleCh.Get(got) != "t" {
		t.Errorf("refused by its own schema: %v", ok)
	}
	undeclared, err := full.DecodeUpdate([]byte(`[{"c":"other","op":"put","v":2}]`))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := apply(t, loaded(full), undeclared).ReadBy(full); !ok {
		t.Error("refused because of a channel that nobody declares")
	}
	if _, ok := loaded(full).ReadBy(part); ok {
		t.Error("read by a schema that does not know the private channel")
	}
	if _, ok := loaded(part).ReadBy(full); ok {
		t.Error("read by a schema that knows more")
	}
	other := schema(t, titleCh, sumCh, secretCh, Log("log", func(i item) string { return i.Text }))
	if _, ok := loaded(full).ReadBy(other); ok {
		t.Error("read by another channel of the same name")
	}
	for name, u := range map[string]Update{
		"declared late":    secretCh.Put(nil),
		"declared another": LastValue[[]item]("log").Put(nil),
	} {
		mixed := apply(t, loaded(part), u)
		replayed, err := apply(t, mixed, titleCh.Put("t")).Replay([]byte(`[{"c":"title","op":"put","v":"u"}]`))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []State{mixed, replayed} {
			if _, ok := s.ReadBy(s.chans); ok {
				t.Errorf("%s: may not be what the stored form is read as", name)
			}
		}
	}
	// A channel without value does not matter, and what is written later counts for the schema.
	small := schema(t, titleCh)
	got, ok := apply(t, State{}, titleCh.Put("t").With(secretCh.Put(nil), secretCh.Delete())).ReadBy(small)
	if !ok || len(got.chans) != 1 || len(small) != 1 {
		t.Errorf("refused: %v, %d channels", !ok, len(got.chans))
	}
}

// TestReplayedStateIsShared is for the race detector: the first use of one state by many.
func TestReplayedStateIsShared(t *testing.T) {
	base := load(t, all(t), `{"log":[{"id":"a"}],"title":"t"}`)
	s, err := base.Replay(encodeUpdate(t, logCh.Append(item{ID: "b"}).With(titleCh.Put("u"))),
		encodeUpdate(t, logCh.Remove("a")))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			if g%2 == 0 {
				if _, err := s.AppendSnapshot(nil); err != nil {
					t.Error(err)
				}
			}
			next, _, err := s.Apply(logCh.Append(item{ID: fmt.Sprint(g)}))
			if err != nil || len(logCh.Get(next)) != 2 || len(logCh.Get(s)) != 1 || titleCh.Get(s) != "u" ||
				len(logCh.Get(base)) != 1 {
				t.Errorf("goroutine %d: %v", g, err)
			}
		})
	}
	wg.Wait()
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(`[{"c":"title","op":"put","v":"a"},{"c":"x","op":"put","v":{ }},{"c":"log","op":"append","v":[{"id":"b"},{"id":"a"}]}]`))
	f.Add([]byte(`[{"c":"x","op":"append","v":[ 1 ]},{"c":"x","op":"append","v":[2]},{"c":"x","op":"reset","v":[]},{"c":"x","op":"delete","v":0}]`))
	f.Add([]byte(`[{"c":"log","op":"remove","v":["a"]},{"c":"sum","op":"put","v":1},{"c":"\ud800","op":"put","v":null}]`))
	f.Add([]byte(`[{"c":"log","op":"append","v":[{"id":"b"}`))
	f.Add([]byte(`[]`))
	sch := all(f)
	base := load(f, sch, `{"log":[{"id":"a"}]}`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := base.Replay(raw)
		if err == nil {
			err = got.Check()
		}
		if d := cmp.Diff([]item{{ID: "a"}}, logCh.Get(base)); d != "" {
			t.Error("the base changed: " + d)
		}
		want, errApply := eager(sch, base, [][]byte{raw})
		if errApply != nil || !json.Valid(raw) {
			return // replay may miss what was overwritten later
		}
		if err != nil {
			t.Fatalf("apply takes what replay refuses: %v", err)
		}
		if d := cmp.Diff(values(t, want), values(t, got)); d != "" {
			t.Errorf("-apply +replay\n%s", d)
		}
	})
}
