package runs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// SpentBelow is what the runs below a run took, to any depth. A run that is gone took nothing.
func (u *UserRuns) SpentBelow(ctx context.Context, runID string) (message.Usage, error) {
	all, err := u.SpentBelowEach(ctx, runID)
	return all[runID], err
}

// SpentBelowEach is SpentBelow for each of several runs, with one question to the store for each level below them.
func (u *UserRuns) SpentBelowEach(ctx context.Context, runIDs ...string) (map[string]message.Usage, error) {
	sums, top := make(map[string]message.Usage), make(map[string]string) // top is the one of them that a run is below
	for _, id := range runIDs {
		top[id] = id
	}
	const page = 1000
	for level := runIDs; len(level) > 0; {
		var next []string
		for offset := 0; ; offset += page {
			list, err := u.data.ListRuns(ctx, store.RunFilter{Parents: level, Limit: page, Offset: offset})
			for i := 0; err == nil && i < len(list); i++ {
				run, own := list[i], message.Usage{}
				if top[run.ID] != "" { // a run that came in meanwhile has moved it to another page
					continue
				}
				if run.Usage != nil {
					err = json.Unmarshal(run.Usage, &own)
				}
				top[run.ID], next = top[run.Parent], append(next, run.ID)
				sums[top[run.ID]] = sums[top[run.ID]].Add(own)
			}
			if err != nil {
				return nil, fmt.Errorf("add up what the runs below %d runs took: %w", len(runIDs), err)
			}
			if len(list) < page {
				break
			}
		}
		level = next
	}
	return sums, nil
}
