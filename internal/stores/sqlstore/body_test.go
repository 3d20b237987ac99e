package sqlstore

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// FuzzDecodeEvents feeds damaged columns to the reader: an error or events, never a panic, and whatever is read has its
// data.
func FuzzDecodeEvents(f *testing.F) {
	tk := &talk{fence: store.Fence{Attempt: 1}}
	step := store.Step{
		Updates: []store.NodeUpdate{{Node: "model", Update: chats.Append(chat{ID: "a"})}},
		Events: []event.Event{tk.event("model", event.State{}),
			tk.event("model", event.Custom{Value: json.RawMessage(`{}`)})},
	}
	b, err := encodeStep(tk.fence, step)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b.events, b.updates)
	f.Add(b.events, []byte(nil))
	f.Add([]byte(`[{}]`), []byte(`[]`))
	f.Add([]byte(`[]`), []byte(`[{"n":"a","w":[]},{"n":"\\u0062","w":[{}]}]`))
	f.Add([]byte(`[]`), []byte(`[{"n":"a","w":[]}, {"w":7}]`))
	f.Add([]byte(`null`), []byte(`[{"n":1}]`))
	f.Fuzz(func(t *testing.T, events, updates []byte) {
		evs, err := decodeEvents(events, updates, "id", "next")
		for _, e := range evs {
			if err == nil && e.Data == nil {
				t.Errorf("event %s has no data", e.ID)
			}
		}
		h := history{deltas: [][]byte{updates}}
		h.replay(schema)
	})
}

// FuzzReplaySnapshot does the same with a stored snapshot.
func FuzzReplaySnapshot(f *testing.F) {
	tk := &talk{}
	st, _, err := tk.state.Apply(chats.Append(chat{ID: "a"}).With(turns.Put(1)))
	if err != nil {
		f.Fatal(err)
	}
	raw, err := st.AppendSnapshot(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, []byte(`[{"n":"x","w":[{"c":"turns","op":"put","v":1}]}]`))
	f.Add(raw[:len(raw)-3], []byte(nil))
	f.Fuzz(func(t *testing.T, snapshot, updates []byte) {
		if st, err := (history{snapshot: snapshot, deltas: [][]byte{updates}}).replay(schema); err == nil {
			st.Values()
		}
	})
}

// An update that its caller has encoded already is kept as the store would have encoded it.
func TestEncodeUpdatesTakesRaw(t *testing.T) {
	us := []store.NodeUpdate{{Node: "model", Update: chats.Append(chat{ID: "a"}).With(turns.Put(1))}, {Node: "a \"b\""},
		{Update: turns.Overwrite(2)}}
	want, err := encodeUpdates(us)
	if err != nil || !json.Valid(want) {
		t.Fatal(string(want), err)
	}
	for i, u := range us {
		if us[i].Raw, err = u.Update.AppendJSON(nil); err != nil {
			t.Fatal(err)
		}
		us[i].Update = nil
	}
	if got, err := encodeUpdates(us); err != nil || string(got) != string(want) {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestStepTooLarge(t *testing.T) {
	raw := bytes.Repeat([]byte("1"), maxStepBytes)
	_, err := encodeStep(store.Fence{}, store.Step{Updates: []store.NodeUpdate{{Raw: raw}}})
	if err == nil || !strings.Contains(err.Error(), "put large content in a file") {
		t.Errorf("error = %v", err)
	}
}

func TestRewrite(t *testing.T) {
	got := sqlite{}.rewrite("a = $2 AND b = $1 AND c = $12 AND d = '$' AND e = $x OR a = $9 OR a = $0")
	if want := "a = ?2 AND b = ?1 AND c = ?12 AND d = '$' AND e = $x OR a = ?9 OR a = ?0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
