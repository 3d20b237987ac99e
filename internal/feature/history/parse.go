package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// channel is the state's channel of messages.
const channel = "messages"

// What a row says was done. "append", "replace", "remove" and "reset" are the operations of the channel.
const (
	opRun    = "run"
	opBranch = "branch"
)

// change is one thing that a checkpoint did to one message, or, with "reset", to all of them.
type change struct {
	op  string
	id  string // as keyOf makes it
	raw json.RawMessage
}

// errUpdates says that a row of the log is not as the store writes it.
var errUpdates = errors.New("the log holds an update that cannot be read")

// changesOf are the changes that a row of the log makes to the messages, in order: the row's column, as the store
// writes it.
func changesOf(updates []byte) (out []change, err error) {
	if len(updates) == 0 {
		return nil, nil
	}
	nodes, ok := rawjson.Elements(updates)
	for _, node := range nodes {
		members, isObject := rawjson.Members(node)
		writes, isList := rawjson.Elements(members["w"])
		ok = ok && isObject && isList
		for _, w := range writes {
			if out, err = appendChanges(out, w); err != nil {
				return nil, err
			}
		}
	}
	if !ok {
		return nil, errUpdates
	}
	return out, nil
}

func appendChanges(out []change, raw json.RawMessage) ([]change, error) {
	w, ok := rawjson.Members(raw)
	name, isText := rawjson.String(w["c"])
	if !ok || !isText {
		return nil, errUpdates
	}
	if name != channel {
		return out, nil
	}
	op, _ := rawjson.String(w["op"])
	items, ok := rawjson.Elements(w["v"])
	if !ok {
		return nil, errUpdates
	}
	switch state.Op(op) {
	case state.OpReset:
		out, op = append(out, change{op: op}), string(state.OpAppend)
	case state.OpAppend, state.OpReplace, state.OpRemove:
	default:
		return nil, fmt.Errorf("%w: operation %.20q", errUpdates, op)
	}
	for _, item := range items {
		c := change{op: op}
		if op == string(state.OpRemove) {
			id, _ := rawjson.String(item)
			c.id = keyOf(id)
		} else {
			members, _ := rawjson.Members(item)
			id, _ := rawjson.String(members["id"])
			c.id, c.raw = keyOf(id), item
		}
		out = append(out, c)
	}
	return out, nil
}

// keyOf is what stands for a message's id in a row: the id, unless a key of the database cannot be that.
func keyOf(id string) string {
	if database.CheckText("", id) == nil && len(id) <= 128 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// shown is who speaks in a message, empty if nobody is shown it, and the name of the model that made it.
func shown(raw json.RawMessage) (kind, model string) {
	members, _ := rawjson.Members(raw)
	role, _ := rawjson.String(members["type"])
	switch message.Role(role) {
	case message.Human, message.AI, message.Tool:
	default:
		return "", ""
	}
	kwargs, _ := rawjson.Members(members["additional_kwargs"])
	if string(kwargs[message.KeyHidden]) == "true" && !isReply(raw) {
		return "", ""
	}
	about, _ := rawjson.Members(members["response_metadata"])
	model, _ = rawjson.String(about["model_name"])
	return role, database.Plain(model)
}

// isReply reports whether a hidden message is what a human answered to a question, which is shown.
func isReply(raw json.RawMessage) bool {
	var m message.Message
	return json.Unmarshal(raw, &m) == nil && conversation.IsReply(m)
}

// tokensOf is what the call of the model took that a message came of.
func tokensOf(raw json.RawMessage) int64 {
	members, _ := rawjson.Members(raw)
	usage, _ := rawjson.Members(members["usage_metadata"])
	tokens, _ := strconv.ParseInt(string(usage["total_tokens"]), 10, 64) // a value that is none counts as none
	return max(tokens, 0)
}
