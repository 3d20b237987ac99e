package toolprogress

import (
	"maps"

	"github.com/pudu-ai/pudu/state"
)

// record is how the tools of the run named do. An update changes the tools that it names; that of another run replaces
// all.
var record = state.Reduced("tool_progress", func(old, upd watched) (watched, error) { return merge(old, upd), nil }).
	AsPrivate()

type watched struct {
	RunID string `json:"run_id"`
	// At is the AI message whose results were judged last.
	At    string           `json:"at"`
	Tools map[string]track `json:"tools"`
}

// track is one tool.
type track struct {
	Phase string `json:"phase,omitempty"`
	// Problems is how many results in a row were of no use.
	Problems int `json:"problems,omitempty"`
	// Reason says why the tool is blocked.
	Reason string `json:"reason,omitempty"`
	// Last are the ids of the newest results that others are compared with, oldest first.
	Last []string `json:"last,omitempty"`
}

// The phases; a tool without one is active.
const (
	phaseWarned  = "warned"
	phaseBlocked = "blocked"
)

// mostTools bounds the tools that are watched: names are the model's own words.
const mostTools = 100

// mostLast is how many results a new one is compared with.
const mostLast = 3

func recordOf(s state.State, runID string) watched {
	if r := record.Get(s); r.RunID == runID {
		return r
	}
	return watched{}
}

func merge(old, upd watched) watched {
	if old.RunID != upd.RunID {
		old.Tools = nil
	}
	tools := make(map[string]track, len(old.Tools)+len(upd.Tools))
	maps.Copy(tools, old.Tools)
	for name, t := range upd.Tools {
		if _, known := tools[name]; known || len(old.Tools)+len(upd.Tools) <= mostTools {
			tools[name] = t
		}
	}
	return watched{RunID: upd.RunID, At: upd.At, Tools: tools}
}
