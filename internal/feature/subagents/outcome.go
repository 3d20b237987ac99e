package subagents

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// maxBrief bounds the beginning of a result that is told beside it, in characters.
const maxBrief = 2000

// Outcome is how a task ended.
type Outcome struct {
	// Status is a terminal one of threadstate.Delegation.
	Status string
	// Result is the sub-agent's last answer, if the task is completed; else Error says why it is not.
	Result, Error string
	// StopReason is the limit that ended the task early: "token_capped", "turn_capped", "loop_capped" or empty.
	StopReason string
	// Model is the configured name of the one that the sub-agent worked with.
	Model string
	// Usage is all that the task took, the tasks that were given on included.
	Usage message.Usage
}

// caps are the limits that a result names, as people read them.
var caps = map[string]string{"token_capped": "token budget", "turn_capped": "turn budget",
	"loop_capped": "repeated tool-call loop"}

// OutcomeOf is the outcome of a task whose run has ended so, with this last answer. Model and Usage are left open.
func OutcomeOf(end event.Run, answer string) Outcome {
	o := Outcome{Status: threadstate.DelegationFailed}
	if caps[end.StopReason] != "" {
		o.StopReason = end.StopReason
	}
	switch answer = strings.TrimSpace(answer); {
	case end.Status == event.StatusSuccess && answer != "":
		o.Status, o.Result = threadstate.DelegationCompleted, answer
	case end.Status == event.StatusSuccess:
		o.Error = "The sub-agent came to its end without an answer."
	case end.Status == event.StatusInterrupted && end.StopReason != "":
		o.Status, o.Error = threadstate.DelegationCancelled, "The task was stopped."
	case end.Status == event.StatusInterrupted:
		o.Error = "The sub-agent stopped to ask a person, who cannot be asked from within a task."
	default:
		o.Error = cmp.Or(end.Error, "The sub-agent failed.")
	}
	return o
}

// text is what the model reads. Nobody takes it apart: what a program wants to know stands in the kwargs.
func (o *Outcome) text() string {
	switch o.Status {
	case threadstate.DelegationCompleted:
		if what := caps[o.StopReason]; what != "" {
			return "Task Succeeded (capped: " + what + "). Result: " + o.Result
		}
		return "Task Succeeded. Result: " + o.Result
	case threadstate.DelegationCancelled:
		return "Task cancelled by user."
	case threadstate.DelegationTimedOut:
		return "Task timed out. Error: " + o.Error
	}
	return "Task failed. Error: " + o.Error
}

// Tool is what the call that gave the task returns.
func (o *Outcome) Tool() *tool.Result {
	res := tool.Text(o.text())
	res.Summary = excerpt.Clip(strings.Join(strings.Fields(o.text()), " "), 120)
	res.Kwargs = message.Fields{toolmeta.KeySubagentStatus: encode(o.Status)}
	set := func(key, value string) {
		if value != "" {
			res.Kwargs[key] = encode(value)
		}
	}
	set(toolmeta.KeySubagentStopReason, o.StopReason)
	set(toolmeta.KeySubagentModel, o.Model)
	if o.Status == threadstate.DelegationCompleted {
		sum := sha256.Sum256([]byte(o.Result))
		set(toolmeta.KeySubagentBrief, excerpt.First(o.Result, maxBrief))
		set(toolmeta.KeySubagentSHA256, hex.EncodeToString(sum[:]))
	} else {
		set(toolmeta.KeySubagentError, o.Error)
	}
	if u := usageOf(o.Usage); u != nil {
		res.Kwargs[toolmeta.KeySubagentUsage] = encode(u)
	}
	return res
}

// AtWork is the result of a call about a task, of the id, that goes on in the background.
func AtWork(id, text string) *tool.Result {
	res := tool.Text(text)
	res.Kwargs = message.Fields{toolmeta.KeySubagentStatus: encode(threadstate.DelegationInProgress),
		toolmeta.KeySubagentRun: encode(id)}
	return res
}

// Later is the result of a later call about the task of an id, which has ended so.
func (o *Outcome) Later(id string) *tool.Result {
	res := o.Tool()
	res.Kwargs[toolmeta.KeySubagentRun] = encode(id)
	return res
}

// Usage are tokens as clients of tasks get them.
type Usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
}

// usageOf is nil where nothing was taken.
func usageOf(u message.Usage) *Usage {
	if u.TotalTokens == 0 {
		return nil
	}
	return &Usage{Input: u.InputTokens, Output: u.OutputTokens, Total: u.TotalTokens}
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // texts and numbers can be encoded
		return nil
	}
	return raw
}

// Answer is the text of the last answer of a task's conversation; a blank one counts only where there is no other.
func Answer(msgs []message.Message) string {
	for _, m := range slices.Backward(msgs) {
		if text := strings.TrimSpace(m.Text()); m.Role == message.AI && text != "" {
			return text
		}
	}
	return ""
}
