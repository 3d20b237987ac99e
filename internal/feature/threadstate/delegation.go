package threadstate

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pudu-ai/pudu/state"
)

// MaxDelegations is how many delegations a thread remembers.
const MaxDelegations = 50

// Delegations are the tasks that were given to sub-agents, in the order in which they were first seen. An update adds
// tasks and changes those with the same id: fields that it leaves empty keep their value, the run and the time of
// creation never change, and a task that ended does not go back to work. Only the newest 50 are kept. A nil or empty
// update changes nothing; a task without an id is refused.
var Delegations = state.Reduced("delegations", mergeDelegations)

// Delegation is a task that was given to a sub-agent.
type Delegation struct {
	ID           string `json:"id"` // of the tool call that gave it
	Description  string `json:"description"`
	SubagentType string `json:"subagent_type"`
	Status       string `json:"status"`
	CreatedAt    string `json:"created_at"`
	// ResultBrief is the beginning of the result, or why there is none, ResultSHA256 the hash of all of it in hex, and
	// ResultRef the message that holds it. They are set once the task has ended, if its call tells.
	ResultBrief  string `json:"result_brief,omitempty"`
	ResultSHA256 string `json:"result_sha256,omitempty"`
	ResultRef    string `json:"result_ref,omitempty"`
	// StopReason is the limit that ended the task early; empty if none did.
	StopReason string `json:"stop_reason,omitempty"`
	RunID      string `json:"run_id,omitempty"`
	// TaskRun is the run of the task, by which later calls name it, if it works in the background; else empty.
	TaskRun string `json:"task_run_id,omitempty"`
}

// Statuses of a [Delegation].
const (
	DelegationInProgress      = "in_progress"
	DelegationCompleted       = "completed"
	DelegationFailed          = "failed"
	DelegationCancelled       = "cancelled"
	DelegationTimedOut        = "timed_out"
	DelegationPollingTimedOut = "polling_timed_out"
)

// Terminal reports whether the task has ended.
func (d Delegation) Terminal() bool {
	switch d.Status {
	case DelegationCompleted, DelegationFailed, DelegationCancelled, DelegationTimedOut, DelegationPollingTimedOut:
		return true
	}
	return false
}

func mergeDelegations(old, upd []Delegation) ([]Delegation, error) {
	merged := append(make([]Delegation, 0, len(old)+len(upd)), old...)
	for _, d := range upd {
		if d.ID == "" {
			return nil, errors.New("a delegation has no id; use the id of its tool call")
		}
		i := slices.IndexFunc(merged, func(m Delegation) bool { return m.ID == d.ID })
		if i < 0 {
			merged = append(merged, d)
			continue
		}
		merged[i] = merged[i].with(d)
	}
	return merged[max(0, len(merged)-MaxDelegations):], nil
}

// with returns the delegation after an update of it.
func (d Delegation) with(upd Delegation) Delegation {
	if d.Terminal() && !upd.Terminal() {
		return d
	}
	return Delegation{
		ID:           d.ID,
		Description:  cmp.Or(upd.Description, d.Description),
		SubagentType: cmp.Or(upd.SubagentType, d.SubagentType),
		Status:       cmp.Or(upd.Status, d.Status),
		CreatedAt:    cmp.Or(d.CreatedAt, upd.CreatedAt),
		ResultBrief:  cmp.Or(upd.ResultBrief, d.ResultBrief),
		ResultSHA256: cmp.Or(upd.ResultSHA256, d.ResultSHA256),
		ResultRef:    cmp.Or(upd.ResultRef, d.ResultRef),
		StopReason:   cmp.Or(upd.StopReason, d.StopReason),
		RunID:        cmp.Or(d.RunID, upd.RunID),
		TaskRun:      cmp.Or(d.TaskRun, upd.TaskRun),
	}
}
