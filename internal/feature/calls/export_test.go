package calls

import (
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Reparse reads the form of what the log keeps of a call, makes it of a state with ten messages, and writes it again.
func Reparse(raw []byte) ([]byte, error) {
	d, err := parse(raw)
	if err != nil {
		return nil, err
	}
	_, _ = d.of(tenState, tenMessages, nil)
	return d.append(nil), nil
}

var (
	tenState    state.State
	tenMessages = make([]message.Message, 10)
)
