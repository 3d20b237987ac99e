package state

import (
	"encoding/binary"
	"testing"
)

// TestStoredWritesAreTakenApart: what is no list of writes is refused.
func TestStoredWritesAreTakenApart(t *testing.T) {
	for _, foreign := range []string{`[{"c":"m","op":"pu\u0074","v":1}]`, `[{"c":"m","op":"put","x":"","v":1}]`} {
		if ws, err := decodeWrites([]byte(foreign)); err != nil || len(ws) != 1 || ws[0].op != OpPut {
			t.Errorf("%s is read as %+v, %v", foreign, ws, err)
		}
	}
	for _, bad := range []string{
		`[{"c":"m","op":"put","v":}]`, `[{"c":"m","op":"put","v":1]`,
		`[{"c":"m","op":"put","v":1}[{"c":"m","op":"put","v":1}]`, `{"c":"m","op":"put","v":1}]`,
		`[{"c":"m"append","v":1}]`, `[{"c":"m","op":"put"v":1}]`, `[{"c":"m","op":"put","v":1`,
		`[{"c":7,"op":"put","v":1}]`,
	} {
		if ws, err := decodeWrites([]byte(bad)); err == nil {
			t.Errorf("%s is read as %+v", bad, ws)
		}
	}
}

// TestSnapshotWithFaults: a list that says it has more items than there are bytes, and a byte too many.
func TestSnapshotWithFaults(t *testing.T) {
	huge := append([]byte(snapshotMagic), snapshotLog)
	huge = binary.AppendUvarint(appendBytes(huge, "log"), 1<<40)
	_, err := all(t).LoadSnapshot(huge)
	wantErr(t, err, errTruncated.Error())
	whole := snapshot(t, apply(t, State{}, titleCh.Put("a").With(logCh.Append(item{ID: "a"}))))
	if _, err := all(t).LoadSnapshot(append(whole, snapshotValue)); err == nil {
		t.Error("a byte behind the last channel was passed over")
	}
}

// TestLogOfSomethingElse: what a channel holds that is no log reads as none; asked for an item, it says so.
func TestLogOfSomethingElse(t *testing.T) {
	s := load(t, Schema{}, `{"log":{"no":"list"}}`)
	if got := logCh.Get(s); got != nil {
		t.Errorf("got %v", got)
	}
	_, err := logCh.Encoded(s, 0)
	wantErr(t, err, `channel "log": a list is wanted`)
	s = apply(t, load(t, all(t), `{}`), LastValue[string]("log").Put("no log"))
	_, err = s.Replay([]byte(`[{"c":"log","op":"append","v":[{"id":"a"}]}]`))
	wantErr(t, err, `channel "log" is a log but holds`)
}

// TestReduceWhatCannotBeRead: a reducer is not called on a value that cannot be read.
func TestReduceWhatCannotBeRead(t *testing.T) {
	s := load(t, Schema{}, `{"sum":"no number"}`)
	_, _, err := s.Apply(sumCh.Put(1))
	wantErr(t, err, `channel "sum"`)
}

// TestWriteOfAnotherType: an update that was read without a schema is refused by a state that knows its channel.
func TestWriteOfAnotherType(t *testing.T) {
	u, err := Schema{}.DecodeUpdate([]byte(`[{"c":"sum","op":"put","v":1},{"c":"title","op":"put","v":1}]`))
	if err != nil {
		t.Fatal(err)
	}
	s, changed, err := load(t, all(t), `{"title":"a"}`).Apply(u)
	wantErr(t, err, `channel "title"`)
	diff(t, "the returned state", map[string]string{"title": `"a"`}, values(t, s))
	if changed != nil {
		t.Errorf("changed %q", changed)
	}
}

// TestTwoChannelsOfOneName: a write is of the type of its channel, and the channel that was there first says what is
// private.
func TestTwoChannelsOfOneName(t *testing.T) {
	words, secret := LastValue[string]("x"), LastValue[int]("x").AsPrivate()
	if _, err := secret.apply(nil, words.Put("text")[0]); err == nil {
		t.Error("a text was taken for a number")
	}
	s := apply(t, apply(t, State{}, secret.Put(1)), words.Put("text"))
	if got := values(t, s); len(got) != 0 {
		t.Errorf("%v is shown of a private channel", got)
	}
}

func TestVisible(t *testing.T) {
	schema := all(t)
	for _, tt := range []struct {
		name string
		u    Update
		left int
		own  bool
	}{
		{"nothing", nil, 0, true},
		{"all", titleCh.Put("a").With(sumCh.Put(1)), 2, true},
		{"a secret first", secretCh.Put(nil).With(titleCh.Put("a")), 1, true},
		{"a secret last", titleCh.Put("a").With(secretCh.Put(nil)), 1, true},
		{"secrets alone", secretCh.Put(nil), 0, true},
		{"another channel of the name", LastValue[string]("title").Put("a"), 0, false},
	} {
		before := len(tt.u)
		got, own := schema.Visible(tt.u)
		if len(got) != tt.left || own != tt.own || len(tt.u) != before {
			t.Errorf("%s: %d of %d writes, %t; want %d, %t", tt.name, len(got), before, own, tt.left, tt.own)
		}
	}
}
