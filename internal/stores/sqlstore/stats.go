package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// tally counts commits.
type tally struct{ commits, failed, nanos atomic.Int64 }

func (t *tally) count(begun time.Time, err error) {
	t.nanos.Add(int64(time.Since(begun)))
	if err != nil {
		t.failed.Add(1)
		return
	}
	t.commits.Add(1)
}

// Stats implements [store.Store].
func (s *Store) Stats() store.Stats {
	read := s.readers.Stats()
	out := store.Stats{InUse: read.InUse, Idle: read.Idle, Waits: read.WaitCount, JobsLeftOut: s.backlog.full.Load()}
	if w := s.writer; w != nil {
		write := w.db.Stats()
		out.InUse, out.Idle = out.InUse+write.InUse, out.Idle+write.Idle
		out.Queued = len(w.jobs)
		out.Commits, out.Failed, out.Committing = w.tally.commits.Load(), w.tally.failed.Load(),
			time.Duration(w.tally.nanos.Load())
	}
	if d, ok := s.dialect.(sqlite); ok {
		for _, path := range []string{d.path, d.path + "-wal"} {
			if info, err := os.Stat(path); err == nil {
				out.Bytes += info.Size()
			}
		}
	}
	return out
}

// Queue implements [store.Work]. Both databases find the rows by the index runs_by_status.
func (s *Store) Queue(ctx context.Context, now time.Time) (q store.Queue, err error) {
	var oldest sql.NullInt64
	err = s.read(ctx, "SELECT count(*), min(CASE WHEN not_before > $1 THEN NULL WHEN not_before > created_at THEN "+
		"not_before ELSE created_at END) "+
		"FROM (SELECT not_before, created_at FROM runs WHERE status = 'pending' AND NOT "+isSteer("runs")+
		" ORDER BY created_at, id LIMIT $2) waiting",
		[]any{database.Micros(now), store.MaxCounted},
		func(r *sql.Rows) (bool, error) { return false, r.Scan(&q.Waiting, &oldest) })
	if err != nil {
		return q, fmt.Errorf("look at the queue: %w", err)
	}
	if oldest.Valid {
		q.Oldest = time.UnixMicro(oldest.Int64)
	}
	return q, nil
}
