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

// Of makes the messages of a call again, of what the log keeps and the state.
func Of(raw []byte, s state.State, msgs []message.Message) ([]message.Message, bool, error) {
	d, err := parse(raw)
	if err != nil {
		return nil, false, err
	}
	out, err := d.of(s, msgs, nil)
	return out, sumOf(out) == d.sum, err
}
