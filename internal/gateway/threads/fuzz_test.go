package threads

import (
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
)

func FuzzPlaces(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"before":"a"}`, `{"before":{"checkpoint_id":"01"}}`,
		`{"before":{"configurable":{"checkpoint_id":"01"}}}`, `{"before":{"configurable":5}}`,
		`{"checkpoint":{"checkpoint_id":"01","checkpoint_ns":"","thread_id":"t","checkpoint_map":null}}`,
		`{"checkpoint_id":""}`, `{"before":[1]}`, `{"checkpoint":"x","before":null}`, "{\"before\":\"\\u0000\xff\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		in := &route.Input{At: []any{"body"}}
		if _, err := route.CheckJSON([]byte(body)); err != nil || json.Unmarshal([]byte(body), &in.Members) != nil {
			return
		}
		before := readCursor(in, "before")
		var at place
		at.ReadFrom(in, "checkpoint")
		if _, err := json.Marshal(in.Faults); err != nil {
			t.Errorf("faults cannot be told: %v", err)
		}
		if in.Raw("before") != nil && before == "" && len(in.Faults) == 0 && string(in.Raw("before")) != `""` {
			t.Errorf("%s: no cursor and no fault", body)
		}
		if at.check() == nil && at.named && !shape.IsCheckpoint(at.id) {
			t.Errorf("%s: checkpoint %q is let through", body, at.id)
		}
	})
}

func FuzzChanges(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"values":null,"as_node":"__input__"}`, `{"values":{"title":"x"}}`, `{"values":[{"title":"x"},null,{}]}`,
		`{"values":[]}`, `{"values":{"messages":[{"role":"user","content":"x"},["ai","y"],"z"]}}`,
		`{"values":{"messages":{"type":"remove","id":"m"}}}`,
		`{"values":{"todos":[{"content":"a","status":"pending"}],"goal":null}}`, `{"values":{"foo":1}}`,
		`{"values":{"title":5}}`, `{"values":[5]}`,
	} {
		f.Add(s)
	}
	s := &Group{Manager: runs.NewManager(runs.Config{})}
	f.Fuzz(func(t *testing.T, body string) {
		in := &route.Input{At: []any{"body"}}
		if _, err := route.CheckJSON([]byte(body)); err != nil || json.Unmarshal([]byte(body), &in.Members) != nil {
			return
		}
		updates, err := s.changes(in, in.Raw("values"))
		if err != nil || len(in.Faults) > 0 {
			return
		}
		if len(updates) == 0 {
			t.Errorf("%s: neither an update nor a fault", body)
		}
		for _, u := range updates {
			if s.checkChannels(u.Values) != nil || u.Values["messages"] != nil {
				t.Errorf("%s: channels %v are let through", body, u.Values)
			}
		}
	})
}
