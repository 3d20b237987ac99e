package frames

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/state"
)

// VisibleValues returns the channels of a state by name, as a values frame shows them.
func VisibleValues(st state.State) (map[string]json.RawMessage, error) {
	list, err := st.Encoded()
	if err != nil {
		return nil, err
	}
	s, out := &scope{}, make(map[string]json.RawMessage, len(list))
	for _, v := range list {
		var b []byte
		if v.Items != nil {
			b, err = s.appendItems(b, v.Channel, v.Items)
		} else {
			b, err = appendLine(b, v.Raw)
		}
		if err != nil {
			return nil, err
		}
		out[v.Channel] = b
	}
	return out, nil
}
