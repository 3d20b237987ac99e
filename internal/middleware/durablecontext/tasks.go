package durablecontext

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// taskTool gives a task to a sub-agent.
const taskTool = "task"

// givenBy returns the tasks of the answer that are not known yet.
func givenBy(rt *agent.Runtime, answer *message.Message, known []threadstate.Delegation) []threadstate.Delegation {
	var given []threadstate.Delegation
	for _, c := range answer.ToolCalls {
		if c.Name != taskTool || find(known, uniqueID(c.ID, answer.ID)) != nil {
			continue
		}
		id := c.ID
		if d := find(known, id); d != nil {
			if !d.Terminal() {
				continue
			}
			id = uniqueID(c.ID, answer.ID) // the provider uses ids again
		}
		var args struct {
			Description string `json:"description"`
			Type        string `json:"subagent_type"`
		}
		_ = json.Unmarshal(c.Args, &args) // what cannot be read stays empty
		given = append(given, threadstate.Delegation{
			ID: id, Description: args.Description, SubagentType: args.Type, Status: threadstate.DelegationInProgress,
			CreatedAt: rt.Now().UTC().Format(time.RFC3339), RunID: rt.RunID,
		})
	}
	return given
}

// uniqueID tells a call from others with the same id in the thread.
func uniqueID(callID, answerID string) string { return callID + "@" + answerID }

func find(list []threadstate.Delegation, id string) *threadstate.Delegation {
	if i := slices.IndexFunc(list, func(d threadstate.Delegation) bool { return d.ID == id }); i >= 0 {
		return &list[i]
	}
	return nil
}

// endedBy returns those of the known tasks that have ended: with a result, or because the conversation has gone on
// without one. results are the messages behind the answer.
func endedBy(answer *message.Message, results []message.Message, known []threadstate.Delegation) []threadstate.Delegation {
	var ended []threadstate.Delegation
	for _, d := range known {
		if d.Terminal() {
			continue
		}
		call := slices.IndexFunc(answer.ToolCalls, func(c message.ToolCall) bool {
			return c.Name == taskTool && (c.ID == d.ID || uniqueID(c.ID, answer.ID) == d.ID)
		})
		if call < 0 {
			d.Status = threadstate.DelegationCancelled
			ended = append(ended, d)
			continue
		}
		for _, m := range results {
			if m.Role == message.Tool && m.ToolCallID == answer.ToolCalls[call].ID {
				ended = append(ended, withResult(d, m))
				break
			}
		}
	}
	return ended
}

// withResult is the task as its result says that it ended. A result that does not say so was written in place of one
// that never came.
func withResult(d threadstate.Delegation, m message.Message) threadstate.Delegation {
	d.Status = field(m, toolmeta.KeySubagentStatus)
	if !d.Terminal() {
		d.Status = threadstate.DelegationCancelled
		return d
	}
	d.StopReason, d.ResultRef = field(m, toolmeta.KeySubagentStopReason), m.ID
	if d.Status == threadstate.DelegationCompleted {
		d.ResultBrief, d.ResultSHA256 = field(m, toolmeta.KeySubagentBrief), field(m, toolmeta.KeySubagentSHA256)
	} else if why := field(m, toolmeta.KeySubagentError); why != "" {
		sum := sha256.Sum256([]byte(why))
		d.ResultBrief, d.ResultSHA256 = why, hex.EncodeToString(sum[:])
	}
	return d
}

// Close is the update that ends what is still in progress in the state of a run that is at its end: as its result says,
// if there is one, else as cancelled.
func Close(s state.State) state.Update {
	var ended []threadstate.Delegation
	known, msgs := threadstate.Delegations.Get(s), agent.Messages.Get(s)
	if answer, at, ok := lastAnswer(msgs); ok {
		ended = endedBy(answer, msgs[at+1:], known)
	}
	for _, d := range known {
		if !d.Terminal() && find(ended, d.ID) == nil {
			d.Status = threadstate.DelegationCancelled
			ended = append(ended, d)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	return threadstate.Delegations.Put(ended)
}

func field(m message.Message, key string) string {
	s, _ := rawjson.String(m.Kwargs[key])
	return s
}
