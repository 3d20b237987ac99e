package threadstate

import "github.com/pudu-ai/pudu/state"

// MaxBackground bounds [Background]; the oldest entries go first.
const MaxBackground = 20

// Background are the processes that commands left running in the background of a sandbox, as far as nobody knows that
// they are gone. An update adds to the list, Overwrite replaces it. Clients do not see it.
var Background = state.Reduced("background_processes", mergeBackground).AsPrivate()

// BackgroundProcesses are what one command left running.
type BackgroundProcesses struct {
	// Instance is the sandbox that they run in; see sandbox.Identified.
	Instance string `json:"instance"`
	// Command is the start of the command, on one line.
	Command string `json:"command"`
	// Count is how many there were when the command ended.
	Count int `json:"count"`
	// Log is the file to which they print; empty if there is none.
	Log string `json:"log,omitempty"`
}

func mergeBackground(old, upd []BackgroundProcesses) ([]BackgroundProcesses, error) {
	merged := append(append(make([]BackgroundProcesses, 0, len(old)+len(upd)), old...), upd...)
	return merged[max(0, len(merged)-MaxBackground):], nil
}
