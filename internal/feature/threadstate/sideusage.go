package threadstate

import (
	"maps"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// sideUsage is what the model calls of the run named took that are not part of the conversation. An update adds to it;
// that of another run replaces it. Clients do not see it.
var sideUsage = state.Reduced("side_usage", mergeSideUsage).AsPrivate()

type sideCalls struct {
	RunID string `json:"run_id"`
	// Models is by the configured name of the model.
	Models map[string]message.Usage `json:"models"`
}

// AddSideUsage returns the update that counts a model call of the run that leaves no message of its own, such as the
// one that makes a title or a summary. model is the configured name of the model that was asked.
func AddSideUsage(runID, model string, u message.Usage) state.Update {
	return sideUsage.Put(sideCalls{RunID: runID, Models: map[string]message.Usage{model: u}})
}

// SideUsage returns what such calls of the run took, by the configured name of the model. The caller must not change
// it.
func SideUsage(s state.State, runID string) map[string]message.Usage {
	if c := sideUsage.Get(s); c.RunID == runID {
		return c.Models
	}
	return nil
}

// SideUsageChannel is the channel behind [AddSideUsage] and [SideUsage], to be declared by those who use them.
func SideUsageChannel() state.AnyChannel { return sideUsage }

func mergeSideUsage(old, upd sideCalls) (sideCalls, error) {
	if old.RunID != upd.RunID {
		return upd, nil
	}
	models := make(map[string]message.Usage, len(old.Models)+len(upd.Models))
	maps.Copy(models, old.Models)
	for name, u := range upd.Models {
		models[name] = models[name].Add(u)
	}
	return sideCalls{RunID: upd.RunID, Models: models}, nil
}
