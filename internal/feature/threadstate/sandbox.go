package threadstate

import (
	"fmt"

	"github.com/pudu-ai/pudu/state"
)

// Sandbox is the sandbox that the thread works in. A nil update keeps it, the same id again changes nothing, and
// another id is refused: a thread that would see two sandboxes is a fault in their isolation. Delete or Overwrite
// gives a thread another one.
var Sandbox = state.Reduced("sandbox", mergeSandbox)

// SandboxState names a sandbox.
type SandboxState struct {
	SandboxID string `json:"sandbox_id"`
}

func mergeSandbox(old, upd *SandboxState) (*SandboxState, error) {
	switch {
	case upd == nil:
		return old, nil
	case old == nil || *old == *upd:
		return upd, nil
	}
	return nil, fmt.Errorf("isolation fault: the thread is in sandbox %q and must not enter %q; "+
		"delete the channel before another sandbox is given to the thread", old.SandboxID, upd.SandboxID)
}
