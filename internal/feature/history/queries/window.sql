-- The messages that were added in some rows, the newest first, each with all that was done to it, and its run.
SELECT a.seq, a.message_id, a.run_id, a.prev, a.turn, a.base, a.call, a.millis, a.created_at, b.seq, b.op, b.kind, b.checkpoint_id, b.n,
    COALESCE(r.status, ''), COALESCE(r.created_at, 0), COALESCE(r.updated_at, 0)
FROM (SELECT h.thread_id, h.seq, h.message_id, h.run_id, h.prev, h.turn, h.base, h.call, h.millis, h.created_at
    FROM threads t JOIN history h ON h.thread_id = t.id
    WHERE t.user_id = $1 AND t.id = $2 AND h.seq >= $3 AND h.seq <= $4 AND h.op = 'append' ORDER BY h.seq DESC LIMIT $5) a
JOIN history b ON b.thread_id = a.thread_id AND b.message_id = a.message_id AND b.seq >= a.seq
LEFT JOIN runs r ON r.id = a.run_id ORDER BY a.seq DESC, b.seq
