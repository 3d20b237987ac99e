package summarization

import (
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// spending is what calls of summarizing models took, by the configured names of the models.
type spending map[string]message.Usage

func (s spending) add(name string, u *message.Usage) {
	if u != nil {
		s[name] = s[name].Add(*u)
	}
}

func (s spending) total() (sum message.Usage) {
	for _, u := range s {
		sum = sum.Add(u)
	}
	return sum
}

// count adds it to the run's usage and returns the update that tells others of it, such as the budget. The loop writes
// both with one commit, so that a hook that runs again after a crash counts what is counted once.
func (s spending) count(rt *agent.Runtime) (update state.Update) {
	rt.Spend(s.total())
	for _, name := range slices.Sorted(maps.Keys(s)) {
		update = update.With(threadstate.AddSideUsage(rt.RunID, name, s[name]))
	}
	return update
}
