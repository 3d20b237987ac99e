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

// changedBy returns those of the known tasks of which the results tell: that they have ended, or go on in the
// background. A task of which nobody tells has ended when the conversation goes on, unless it works in the background.
// results are the messages behind the answer.
func changedBy(answer *message.Message, results []message.Message,
	known []threadstate.Delegation) []threadstate.Delegation {
	var changed []threadstate.Delegation
	for _, d := range known {
		if d.Terminal() {
			continue
		}
		if d.TaskRun != "" {
			if i := slices.IndexFunc(results, func(m message.Message) bool { return tellsEnd(m, d.TaskRun) }); i >= 0 {
				changed = append(changed, withResult(d, results[i]))
			}
			continue
		}
		call := slices.IndexFunc(answer.ToolCalls, func(c message.ToolCall) bool {
			return c.Name == taskTool && (c.ID == d.ID || uniqueID(c.ID, answer.ID) == d.ID)
		})
		if call < 0 {
			d.Status = threadstate.DelegationCancelled
			changed = append(changed, d)
			continue
		}
		for _, m := range results {
			if m.Role == message.Tool && m.ToolCallID == answer.ToolCalls[call].ID {
				changed = append(changed, withResult(d, m))
				break
			}
		}
	}
	return changed
}

// tellsEnd reports whether a message tells of the end of the task of a run.
func tellsEnd(m message.Message, run string) bool {
	return m.Role == message.Tool && field(m, toolmeta.KeySubagentRun) == run &&
		field(m, toolmeta.KeySubagentStatus) != threadstate.DelegationInProgress
}

// withResult is the task as its result says that it ended, or goes on. A result that does not say so was written in
// place of one that never came.
func withResult(d threadstate.Delegation, m message.Message) threadstate.Delegation {
	d.Status = field(m, toolmeta.KeySubagentStatus)
	if run := field(m, toolmeta.KeySubagentRun); run != "" && d.Status == threadstate.DelegationInProgress {
		d.TaskRun = run
		return d
	}
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
		ended = slices.DeleteFunc(changedBy(answer, msgs[at+1:], known),
			func(d threadstate.Delegation) bool { return !d.Terminal() })
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
