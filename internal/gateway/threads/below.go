package threads

import (
	"context"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// stateBelow is the state of the sub-agent whose path is a namespace, as the stream and its questions name it: that of the hidden thread
// on which it works. Its checkpoints are those of the namespace.
func (g *Group) stateBelow(ctx context.Context, t store.Thread, at place) (stateJSON, error) {
	below, err := g.threadBelow(ctx, t.ID, at.namespace)
	if err != nil {
		return stateJSON{}, err
	}
	out, err := g.stateOf(ctx, below, at.id)
	for _, cp := range []*checkpointJSON{out.Checkpoint, out.ParentCheckpoint} {
		if cp != nil {
			cp.ThreadID, cp.Namespace = t.ID, at.namespace
		}
	}
	return out, err
}

// threadBelow finds the hidden thread of the newest run below one of the thread's that has the namespace.
func (g *Group) threadBelow(ctx context.Context, thread, namespace string) (store.Thread, error) {
	const most = 100 // runs of the thread that are looked below
	path := strings.Split(namespace, "|")
	above, err := g.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: thread, Limit: most})
	for depth := 1; err == nil && len(above) > 0 && depth <= len(path); depth++ {
		var parents []string
		for _, run := range above {
			parents = append(parents, run.ID)
		}
		above, err = g.Mine(ctx).ListRuns(ctx, store.RunFilter{Parents: parents, Limit: store.MaxChildren})
		above = slices.DeleteFunc(above, func(run store.Run) bool {
			req, err := runs.RequestOf(run)
			return err != nil || !slices.Equal(req.Namespace, path[:depth])
		})
	}
	if err != nil {
		return store.Thread{}, err
	}
	if len(above) == 0 {
		return store.Thread{}, shape.NoCheckpoint("")
	}
	return g.Mine(ctx).Thread(ctx, above[0].ThreadID)
}
