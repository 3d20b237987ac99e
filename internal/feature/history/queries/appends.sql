SELECT h.seq, h.message_id, h.kind, h.prev, h.turn, h.base, h.checkpoint_id, COALESCE(r.status, '')
FROM threads t JOIN history h ON h.thread_id = t.id LEFT JOIN runs r ON r.id = h.run_id
WHERE t.user_id = $1 AND t.id = $2 AND h.message_id = $3 AND h.op = 'append' AND h.kind <> '' ORDER BY h.seq
