-- Where a thread stands, and how far it was read.
SELECT t.head, COALESCE(h.checkpoint_id, ''), COALESCE(h.run_id, ''), COALESCE(h.seq, 0), COALESCE(h.prev, 0),
    COALESCE(h.turn, 0), COALESCE(h.turns, 0), COALESCE(h.calls, 0), COALESCE(h.read_at, 0)
FROM threads t LEFT JOIN history_heads h ON h.thread_id = t.id WHERE t.user_id = $1 AND t.id = $2
