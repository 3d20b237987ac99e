package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Messages is the conversation.
var Messages = state.Log("messages", func(m message.Message) string { return m.ID })

// stepCount counts the model and tools nodes of the run that it names.
var stepCount = state.LastValue[steps]("loop_steps").AsPrivate()

type steps struct {
	RunID string `json:"run_id"`
	N     int    `json:"n"`
}

// stop is why the run named must come to its end.
var stop = state.LastValue[Stopping]("loop_stop").AsPrivate()

// Channels returns the channels that every agent declares.
func Channels() []state.AnyChannel { return []state.AnyChannel{Messages, stepCount, stop, sourced} }

// Stopping says that a limit or a guard ends the run.
type Stopping struct {
	RunID string `json:"run_id"`
	// Reason is the run's stop_reason, such as "turn_capped", "loop_capped" or "token_capped".
	Reason string `json:"reason"`
	// Answered is set once the model has given its last answer.
	Answered bool `json:"answered,omitempty"`
}

func (s Stopping) pending() bool { return s.Reason != "" && !s.Answered }

// ReasonTurns is the stop reason of a run that reached RunConfig.MaxSteps.
const ReasonTurns = "turn_capped"

// Stop returns the update that ends the run: calls that are still open are answered as not executed, the model is
// asked once more, without tools, to sum up what there is, and the run ends as a success with the reason.
func Stop(rt *Runtime, reason string) state.Update {
	return stop.Put(Stopping{RunID: rt.RunID, Reason: reason})
}

// Ended returns the update that says why the run ends with the answer it has although that is not all it could be, such
// as one that the provider cut. No further call is made, and the run ends as a success with the reason. Nothing changes
// if the run stops for another reason already.
func Ended(rt *Runtime, s state.State, reason string) state.Update {
	if StopState(s, rt.RunID).Reason != "" {
		return nil
	}
	return stop.Put(Stopping{RunID: rt.RunID, Reason: reason, Answered: true})
}

// answered is the write that remembers that the last answer is given.
func answered(s state.State) state.Update {
	st := stop.Get(s)
	st.Answered = true
	return stop.Put(st)
}

// StopState returns why the run stops, or the zero value if nothing stops it.
func StopState(s state.State, runID string) Stopping {
	if st := stop.Get(s); st.RunID == runID {
		return st
	}
	return Stopping{}
}

// AddMessages returns the update that merges messages from outside into the conversation, by the rules of LangGraph's
// add_messages: a message whose id is known takes the place of the old one, a remove message drops the message with
// its id (an unknown id is an error), the id [message.RemoveAll] drops everything before it, and messages without an
// id get one from newID. None of them can pass for the program's own words.
func AddMessages(s state.State, msgs []message.Message, newID func() string) (state.Update, error) {
	known := make(map[string]*message.Message)
	held := Messages.Get(s)
	for i := range held {
		known[held[i].ID] = &held[i]
	}
	msgs = fromClient(msgs, known)
	for i, m := range slices.Backward(msgs) {
		if m.Role == message.Remove && m.ID == message.RemoveAll {
			return addRest(Messages.Reset(), msgs[i+1:], nil, newID)
		}
	}
	return addRest(nil, msgs, known, newID)
}

// fromClient returns the messages as they may enter the state.
func fromClient(msgs []message.Message, known map[string]*message.Message) []message.Message {
	out := slices.Clone(msgs)
	for i, m := range out {
		if m.Role != message.Remove {
			out[i] = conversation.FromClient(m, known[m.ID])
		}
	}
	return out
}

func addRest(
	update state.Update, msgs []message.Message, known map[string]*message.Message, newID func() string,
) (state.Update, error) {
	var add []message.Message
	at := make(map[string]int) // index into add
	gone := make(map[string]bool)
	for i, m := range msgs {
		if m.ID == "" && m.Role != message.Remove {
			m.ID = conversation.IDFor(m, newID())
		}
		_, added := at[m.ID]
		switch {
		case m.Role == message.Remove && known[m.ID] == nil && !added:
			return nil, fmt.Errorf("message %d: cannot remove %q: the thread has no message with this id", i, m.ID)
		case m.Role == message.Remove:
			gone[m.ID] = true
			continue
		case added:
			add[at[m.ID]] = m
		default:
			at[m.ID] = len(add)
			add = append(add, m)
		}
		delete(gone, m.ID)
	}
	var remove []string
	for id := range gone {
		if known[id] != nil {
			remove = append(remove, id)
		}
	}
	keep := add[:0]
	for _, m := range add {
		if !gone[m.ID] {
			keep = append(keep, m)
		}
	}
	if len(remove) > 0 {
		slices.Sort(remove)
		update = update.With(Messages.Remove(remove...))
	}
	if len(keep) > 0 {
		update = update.With(Messages.Append(keep...))
	}
	return update, nil
}

// toolMessage turns a result into the message that answers the call.
func toolMessage(rt *Runtime, messageID string, call tool.Call, res *tool.Result) message.Message {
	m := message.Message{
		ID: res.MessageID, Role: message.Tool, Name: call.Name, ToolCallID: call.ID,
		Content: res.Content, Status: message.StatusSuccess, Artifact: res.Artifact, Kwargs: res.Kwargs,
	}
	if m.ID == "" {
		m.ID = deriveID(rt.RunID, messageID, call.ID)
	}
	if res.IsError {
		m.Status = message.StatusError
	}
	if len(m.Content) == 0 {
		m.Content = []message.Part{message.Text("(no output)")}
	}
	return m
}

// deriveID makes an id that is the same whenever it is derived from the same parts, in the form of a UUID.
func deriveID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-8" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}

// openCalls returns the calls of the last AI message that no tool message answers yet, and that message.
func openCalls(s state.State) (message.Message, []openCall) {
	msgs := Messages.Get(s)
	answered := make(map[string]bool)
	for _, m := range slices.Backward(msgs) {
		switch m.Role {
		case message.Tool:
			answered[m.ToolCallID] = true
		case message.AI:
			return m, callsOf(m, answered)
		}
	}
	return message.Message{}, nil
}

// openCall is a call that wants an answer. invalid says why it cannot run.
type openCall struct {
	message.ToolCall
	invalid string
}

func callsOf(m message.Message, answered map[string]bool) []openCall {
	var open []openCall
	for _, c := range m.ToolCalls {
		if !answered[c.ID] {
			open = append(open, openCall{ToolCall: c})
		}
	}
	for _, c := range m.InvalidToolCalls {
		if !answered[c.ID] {
			call := message.ToolCall{ID: c.ID, Name: c.Name}
			open = append(open, openCall{ToolCall: call, invalid: invalidText(c)})
		}
	}
	return open
}

func invalidText(c message.InvalidToolCall) string {
	const most = 500
	return fmt.Sprintf("This call was not executed: its arguments are not a complete JSON object (%s). You sent: %s\n"+
		"Send the call again with complete arguments; split very long content over several calls.",
		c.Error, excerpt.Bound(c.Args, most))
}

// After is the node that follows when a change of the state from outside counts as one of the named node. A name of no
// node leaves it at what it was.
func After(node string, s state.State, was string) string {
	switch node {
	case NodeInput, NodeBeforeAgent:
		return NodeBeforeModel
	case NodeBeforeModel:
		return NodeModel
	case NodeModel:
		if _, open := openCalls(s); len(open) > 0 {
			return NodeTools
		}
		return Done
	case NodeTools:
		return NodeBeforeModel
	case NodeAfterAgent, NodeEnd:
		return Done
	}
	return was
}

// Target is the node that a client's name stands for in a run's Resume: its own names, and LangGraph's for the ends.
func Target(node string) (string, error) {
	switch node {
	case NodeInput, NodeBeforeAgent:
		return NodeBeforeAgent, nil
	case NodeBeforeModel, NodeModel:
		return NodeBeforeModel, nil
	case NodeTools, NodeAfterAgent:
		return node, nil
	case NodeEnd:
		return Done, nil
	}
	return "", fmt.Errorf("there is no node %.60q: name %s, %s or %s", node, NodeModel, NodeTools, NodeEnd)
}
