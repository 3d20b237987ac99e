SELECT h.checkpoint_id FROM threads t JOIN history h ON h.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND h.seq <= $3 ORDER BY h.seq DESC LIMIT 1
