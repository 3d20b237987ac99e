package frames

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/state"
)

// VisibleValues returns the channels of a state by name, as a values frame shows them.
func VisibleValues(st state.State) (map[string]json.RawMessage, error) {
	list, err := visible(st)
	if err != nil {
		return nil, err
	}
	s, out := &scope{}, make(map[string]json.RawMessage, len(list))
	for _, v := range list {
		if out[v.Channel], err = s.appendChannel(nil, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// visible are the channels of a state that clients see: those with a value, and, once there is any, those that are
// empty until they are written, as LangGraph has them.
func visible(st state.State) ([]state.Encoded, error) {
	list, err := st.Encoded()
	if len(list) == 0 {
		return list, err
	}
	for _, c := range threadstate.Empties() {
		if !st.Has(c.Channel) {
			list = append(list, c)
		}
	}
	return list, err
}
