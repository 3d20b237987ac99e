package readbeforewrite

import (
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// knows reports whether the conversation shows a file of this hash at the path: its newest mark says so, or a call
// beside this one has just made it so. Calls of one message all see the conversation before it.
func (m *Middleware) knows(req *agent.ToolRequest, path, hash string) bool {
	if last, ok := newest(req.Call.State, path); ok && last == hash {
		return true
	}
	return m.wrote(req, path, hash) || wroteBeforeCrash(req, path, hash)
}

// newest is the hash in the newest mark of a path.
func newest(s state.State, path string) (hash string, ok bool) {
	for _, msg := range slices.Backward(agent.Messages.Get(s)) {
		if mk, ok := markOf(msg); ok && mk.Path == path {
			return mk.Hash, true
		}
	}
	return "", false
}

func markOf(msg message.Message) (mk mark, ok bool) {
	raw := msg.Kwargs[KeyMark]
	if msg.Role != message.Tool || len(raw) == 0 {
		return mark{}, false
	}
	fields, _ := rawjson.Members(raw)
	mk.Path, ok = rawjson.String(fields["path"])
	mk.Hash, _ = rawjson.String(fields["hash"])
	return mk, ok
}

// place is a path in a thread.
type place struct{ thread, path string }

// written is what a call of a message made of a file.
type written struct{ message, hash string }

// maxMade bounds what is remembered of calls under way.
const maxMade = 1000

// remember keeps for the calls beside this one what it made of a file. It is a shortcut to what the durable log of the
// step holds, and worth nothing once the step is over: an entry counts for the message that it was made for.
func (m *Middleware) remember(req *agent.ToolRequest, path, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.made) >= maxMade {
		clear(m.made)
	}
	m.made[place{req.Call.ThreadID, path}] = written{asking(req.Call.State), hash}
}

func (m *Middleware) wrote(req *agent.ToolRequest, path, hash string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made[place{req.Call.ThreadID, path}] == written{asking(req.Call.State), hash}
}

// asking is the id of the message whose calls run.
func asking(s state.State) string {
	for _, msg := range slices.Backward(agent.Messages.Get(s)) {
		if msg.Role == message.AI {
			return msg.ID
		}
	}
	return ""
}

// wroteBeforeCrash looks at the results that were recorded before the run was cut off in the middle of the step.
func wroteBeforeCrash(req *agent.ToolRequest, path, hash string) bool {
	if req.Runtime == nil || req.Runtime.Resume == nil {
		return false
	}
	for _, end := range req.Runtime.Resume.Ended {
		if end.Tool != writeFile && end.Tool != strReplace || end.MessageID != asking(req.Call.State) {
			continue
		}
		for _, msg := range messagesOf(end) {
			if mk, ok := markOf(msg); ok && mk == (mark{path, hash}) {
				return true
			}
		}
	}
	return false
}

// messagesOf are the messages that a recorded result added.
func messagesOf(end event.ToolEnd) []message.Message {
	schema, err := state.NewSchema(agent.Channels()...)
	if err != nil {
		return nil
	}
	update, err := schema.DecodeUpdate(end.Writes)
	if err != nil {
		return nil
	}
	s, _, err := state.State{}.Apply(update)
	if err != nil {
		return nil
	}
	return agent.Messages.Get(s)
}
