SELECT h.seq, h.op, h.base, h.prev, h.turn FROM threads t JOIN history h ON h.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND h.op IN ('branch', 'reset')
