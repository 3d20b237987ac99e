package threadstate

import "github.com/pudu-ai/pudu/state"

// Todos is the agent's plan. An update replaces it whole: nil keeps it, an empty list clears it.
var Todos = state.Reduced("todos", mergeTodos)

// Todo is one step of the plan.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"` // TodoPending, TodoInProgress or TodoCompleted
}

// Statuses of a [Todo].
const (
	TodoPending    = "pending"
	TodoInProgress = "in_progress"
	TodoCompleted  = "completed"
)

func mergeTodos(old, upd []Todo) ([]Todo, error) {
	if upd == nil {
		return old, nil
	}
	return upd, nil
}

// Goal is what the thread works towards over several runs. A nil update keeps it; Delete takes it away.
var Goal = state.Reduced("goal", mergeGoal)

// GoalState is a goal and how far it got.
type GoalState struct {
	Objective string `json:"objective"` // at most 4,000 characters
	Status    string `json:"status"`    // "active"
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	// ContinuationCount is how many times the agent was sent on by itself, of at most MaxContinuations.
	ContinuationCount int `json:"continuation_count"`
	MaxContinuations  int `json:"max_continuations"`
	// NoProgressCount is how many evaluations in a row saw no progress, of at most MaxNoProgressContinuations.
	NoProgressCount            int `json:"no_progress_count"`
	MaxNoProgressContinuations int `json:"max_no_progress_continuations"`
	// LastEvaluation is nil until a run was evaluated.
	LastEvaluation *GoalEvaluation `json:"last_evaluation,omitempty"`
}

// GoalEvaluation is a verdict on a goal after a run.
type GoalEvaluation struct {
	Satisfied       bool   `json:"satisfied"`
	Blocker         string `json:"blocker"`          // what stands in the way; "none" if satisfied
	Reason          string `json:"reason"`           // at most 1,000 characters
	EvidenceSummary string `json:"evidence_summary"` // at most 1,000 characters
	RunID           string `json:"run_id"`
	EvaluatedAt     string `json:"evaluated_at"`
	// ProgressKey is equal for two evaluations between which nothing moved.
	ProgressKey string `json:"progress_key"`
	// StandDownReason says why the agent was not sent on; empty if it was.
	StandDownReason string `json:"stand_down_reason,omitempty"`
}

func mergeGoal(old, upd *GoalState) (*GoalState, error) {
	if upd == nil {
		return old, nil
	}
	return upd, nil
}
