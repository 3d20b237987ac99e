package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// threadFilter reads which threads are meant. Clients ask for those of a graph. There is one, so that all threads are meant,
// those too that have had no run and do not tell it.
func threadFilter(in *input) store.ThreadFilter {
	f := store.ThreadFilter{
		IDs: in.names("ids", 1000), Status: in.text("status", 64), Metadata: in.filter("metadata"),
	}
	if graph, ok := rawjson.String(f.Metadata["graph_id"]); ok && graph == GraphID {
		delete(f.Metadata, "graph_id")
	}
	return f
}

// satisfiable reports whether any thread can be meant: no thread has another status, or one of no ids.
func satisfiable(f store.ThreadFilter) bool {
	statuses := []string{"", store.ThreadIdle, store.ThreadBusy, store.ThreadInterrupted, store.ThreadError}
	return slices.Contains(statuses, f.Status) && (f.IDs == nil || len(f.IDs) > 0)
}

// searchThreads lists threads. In the usual order, the last updated first, pinned ones come before all others. Filters
// on the state ("values") and extracts of it are not supported and left alone.
func (s *Server) searchThreads(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	f, p, selected := threadFilter(in), in.page(100), in.names("select", maxSelect)
	f.Sort = in.oneOf("sort_by", "updated_at", "created_at", "thread_id", "status", "state_updated_at")
	f.Ascending = in.oneOf("sort_order", "desc", "asc") == "asc"
	if f.Sort == "state_updated_at" {
		f.Sort = "updated_at"
	}
	f.Pinned = f.Sort == "updated_at" && !f.Ascending
	f.Limit, f.Offset = p.limit+1, p.offset
	if err := in.err(); err != nil {
		return err
	}
	var list []store.Thread
	if satisfiable(f) {
		if list, err = s.mine(r.Context()).SearchThreads(r.Context(), f); err != nil {
			return err
		}
	}
	out := make([]threadJSON, p.cut(w, len(list)))
	for i := range out {
		if out[i], err = s.foundThread(r.Context(), list[i], selected); err != nil {
			return err
		}
	}
	return replyList(w, out, selected)
}

// foundThread is a thread in a list: brief, but with the questions that it asks.
func (s *Server) foundThread(ctx context.Context, t store.Thread, selected []string) (threadJSON, error) {
	out := briefThread(t)
	if t.Status != store.ThreadInterrupted || selected != nil && !slices.Contains(selected, "interrupts") {
		return out, nil
	}
	snap, err := s.runs(ctx).Snapshot(ctx, t.ID, "")
	if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
		return out, nil
	}
	out.Interrupts = interruptsByTask(snap)
	return out, err
}

// countThreads counts threads.
func (s *Server) countThreads(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	f := threadFilter(in)
	if err := in.err(); err != nil {
		return err
	}
	n := 0
	if satisfiable(f) {
		if n, err = s.mine(r.Context()).CountThreads(r.Context(), f); err != nil {
			return err
		}
	}
	return reply(w, http.StatusOK, n)
}
