-- The last row that a checkpoint, or one before it, has made.
SELECT h.seq, h.checkpoint_id FROM threads t JOIN history h ON h.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND h.checkpoint_id <= $3 ORDER BY h.seq DESC LIMIT 1
