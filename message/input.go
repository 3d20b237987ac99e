package message

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// DecodeInput reads what clients send as messages: one message or a list of them. A message is an object (see
// [Message.UnmarshalJSON]), a string, which a human says, or a pair of role and content such as ["human", "hi"]. A
// list of two strings is one pair if the first is the name of a role, else two messages. An error names the index
// and the member. The messages may lack ids.
func DecodeInput(raw json.RawMessage) ([]Message, error) {
	raw, err := checked(raw)
	if err != nil {
		return nil, fmt.Errorf("decode messages: %w", err)
	}
	list, isList := rawjson.Elements(raw)
	switch {
	case raw[0] == 'n':
		return nil, errors.New("decode messages: null is no message; send a message or a list of messages")
	case !isList || isPair(list):
		m, err := decodeOne(raw)
		if err != nil {
			return nil, fmt.Errorf("decode messages: %w", err)
		}
		return []Message{m}, nil
	case len(list) > maxParts:
		return nil, fmt.Errorf("decode messages: %w", errTooMany)
	}
	msgs := make([]Message, len(list))
	for i, one := range list {
		if msgs[i], err = decodeOne(one); err != nil {
			return nil, fmt.Errorf("decode messages: [%d]: %w", i, err)
		}
	}
	return msgs, nil
}

// isPair tells ["human", "hi"] from a list of two messages that are strings.
func isPair(list []json.RawMessage) bool {
	if len(list) != 2 {
		return false
	}
	first, ok := rawjson.String(list[0])
	_, second := rawjson.String(list[1])
	_, isRole := roles[first]
	return ok && second && isRole
}

func decodeOne(raw json.RawMessage) (Message, error) {
	switch raw[0] {
	case '{':
		return decodeMessage(raw)
	case '"':
		return decodeContent(Human, raw)
	case '[':
		return decodePair(raw)
	}
	return Message{}, wanted("an object, a string or a pair of role and content", raw)
}

func decodePair(raw json.RawMessage) (Message, error) {
	pair, _ := rawjson.Elements(raw)
	if len(pair) != 2 {
		return Message{}, fmt.Errorf("a pair has a role and a content, not %d entries", len(pair))
	}
	r := reader{members: Fields{"role": pair[0]}}
	role, err := takeRole(&r)
	if err != nil {
		return Message{}, err
	}
	if role == Tool || role == Remove {
		return Message{}, fmt.Errorf("a %s message cannot be a pair; send an object", role)
	}
	return decodeContent(role, pair[1])
}

func decodeContent(role Role, content json.RawMessage) (Message, error) {
	m, r := Message{Role: role}, reader{members: Fields{"content": content}}
	m.takeContent(&r)
	return m, r.err
}
