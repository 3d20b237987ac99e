package history

import (
	"encoding/json"
	"testing"
)

// Whatever stands in a row of the log, it is read or refused, and what is read can be a key and content.
func FuzzChanges(f *testing.F) {
	for _, seed := range []string{
		``, `[]`, `[{"n":"model","w":[{"c":"messages","op":"append","v":[{"type":"ai","id":"1","content":"x"}]}]}]`,
		`[{"n":"a","w":[{"c":"messages","op":"reset","v":[{"id":"\u0000"}]},{"c":"title","op":"put","v":"t"}]}]`,
		`[{"n":"a","w":[{"c":"messages","op":"remove","v":["1",2]}]}]`,
		`[{"n":"a","w":[{"c":"messages","op":"x","v":[]}]}]`, `[1]`, `{`,
		`[{"w":{}}]`,
		`[{"n":"a","w":[{"c":"messages","op":"append","v":[7,{"type":"human","additional_kwargs":{"hide_from_ui":true}}]}]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		changes, err := changesOf(raw)
		if err != nil {
			return
		}
		for _, c := range changes {
			if len(c.id) > 128 {
				t.Errorf("a key of %d bytes", len(c.id))
			}
			if json.Valid(raw) && c.raw != nil && !json.Valid(c.raw) {
				t.Errorf("content %q of %q", c.raw, raw)
			}
			kind, _ := shown(c.raw)
			if kind != "" && kind != "human" && kind != "ai" && kind != "tool" {
				t.Errorf("kind %q", kind)
			}
			tokensOf(c.raw)
		}
	})
}
