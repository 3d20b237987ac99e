package threads

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// filterIn says which threads are meant.
type filterIn struct {
	IDs      []string     `body:"ids" max:"1000"`
	Status   string       `body:"status" max:"64"`
	Metadata route.Filter `body:"metadata"`
	// Those that are pinned, archived or in the bin alone. Else those that are neither of the last two; ids find the
	// archived too.
	Pinned   bool `body:"pinned"`
	Archived bool `body:"archived"`
	Trashed  bool `body:"trashed"`
}

// filter is which threads are meant. Clients ask for those of a graph. There is one, so that all threads are meant,
// those too that have had no run and do not tell it.
func (in *filterIn) filter() store.ThreadFilter {
	f := store.ThreadFilter{IDs: in.IDs, Status: in.Status, Metadata: in.Metadata}
	if graph, ok := rawjson.String(f.Metadata["graph_id"]); ok && graph == shape.GraphID {
		delete(f.Metadata, "graph_id")
	}
	if in.Pinned {
		members := map[string]json.RawMessage{"deerflow_pinned": json.RawMessage("true")}
		maps.Copy(members, f.Metadata)
		f.Metadata = members
	}
	switch {
	case in.Trashed:
		f.Shelf = store.InBin
	case in.Archived:
		f.Shelf = store.InArchive
	}
	return f
}

// satisfiable reports whether any thread can be meant: no thread has another status, or one of no ids.
func satisfiable(f store.ThreadFilter) bool {
	statuses := []string{"", store.ThreadIdle, store.ThreadBusy, store.ThreadInterrupted, store.ThreadError}
	return slices.Contains(statuses, f.Status) && (f.IDs == nil || len(f.IDs) > 0)
}

type searchIn struct {
	filterIn

	Limit  int      `body:"limit" default:"100" min:"1" max:"1000"`
	Offset int      `body:"offset" max:"1073741824"`
	Select []string `body:"select" max:"64"`
	SortBy string   `body:"sort_by" enum:"updated_at,created_at,thread_id,status,state_updated_at"`
	Order  string   `body:"sort_order" enum:"desc,asc"`
}

// search lists threads. In the usual order, the last updated first, pinned ones come before all others; sorted by
// state_updated_at they do not. Filters on the state ("values") and extracts of it are not supported and left alone.
func (g *Group) search(ctx context.Context, in *searchIn) (out route.Page[threadJSON], err error) {
	f := in.filter()
	f.Sort, f.Ascending = in.SortBy, in.Order == "asc"
	f.Pinned = in.SortBy == "updated_at" && !f.Ascending
	if f.Sort == "state_updated_at" {
		f.Sort = "updated_at"
	}
	f.Limit, f.Offset = in.Limit+1, in.Offset
	var list []store.Thread
	if satisfiable(f) {
		if list, err = g.Mine(ctx).SearchThreads(ctx, f); err != nil {
			return out, err
		}
	}
	found := route.PageOf(list, in.Limit, in.Offset)
	out = route.Page[threadJSON]{
		Entries: make([]threadJSON, len(found.Entries)), Offset: in.Offset, More: found.More, Select: in.Select,
	}
	within, err := g.within(ctx, found.Entries, in.Select)
	if err != nil {
		return out, err
	}
	for i, t := range found.Entries {
		if out.Entries[i], err = g.foundThread(ctx, t, in.Select); err != nil {
			return out, err
		}
		out.Entries[i].FolderID = within[t.ID]
	}
	return out, nil
}

// within are the folders of threads in a list that was asked to select them.
func (g *Group) within(ctx context.Context, list []store.Thread, selected []string) (map[string]string, error) {
	if !slices.Contains(selected, "folder_id") {
		return nil, nil
	}
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	return g.Folders.For(route.Caller(ctx).User).OfEach(ctx, ids)
}

// foundThread is a thread in a list: brief, but with the questions that it asks.
func (g *Group) foundThread(ctx context.Context, t store.Thread, selected []string) (threadJSON, error) {
	out := g.briefThread(t)
	if t.Status != store.ThreadInterrupted || selected != nil && !slices.Contains(selected, "interrupts") {
		return out, nil
	}
	snap, err := g.runs(ctx).Snapshot(ctx, t.ID, "")
	if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
		return out, nil
	}
	out.Interrupts = interruptsByTask(snap)
	return out, err
}

// count counts threads.
func (g *Group) count(ctx context.Context, in *filterIn) (int, error) {
	f := in.filter()
	if !satisfiable(f) {
		return 0, nil
	}
	return g.Mine(ctx).CountThreads(ctx, f)
}
