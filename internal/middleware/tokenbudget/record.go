package tokenbudget

import (
	"cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// record is what the run named has spent, without the calls beside the conversation. An update adds to it; that of
// another run replaces it.
var record = state.Reduced("token_budget", func(old, upd spending) (spending, error) { return merge(old, upd), nil }).
	AsPrivate()

type spending struct {
	RunID string        `json:"run_id"`
	Usage message.Usage `json:"usage"`
	Cost  float64       `json:"cost,omitempty"`
	// TasksOf is the AI message of whose tasks the tokens were counted last.
	TasksOf string `json:"tasks_of,omitempty"`
	// Warned and Stopped: the model was told.
	Warned  bool `json:"warned,omitempty"`
	Stopped bool `json:"stopped,omitempty"`
}

func recordOf(s state.State, runID string) spending {
	if r := record.Get(s); r.RunID == runID {
		return r
	}
	return spending{RunID: runID}
}

func merge(old, upd spending) spending {
	if old.RunID != upd.RunID {
		return upd
	}
	return spending{
		RunID: upd.RunID, Usage: old.Usage.Add(upd.Usage), Cost: old.Cost + upd.Cost,
		TasksOf: cmp.Or(upd.TasksOf, old.TasksOf), Warned: old.Warned || upd.Warned, Stopped: old.Stopped ||
			upd.Stopped,
	}
}
