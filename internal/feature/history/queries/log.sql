SELECT l.checkpoint_id, l.parent_id, l.run_id, l.created_at, l.updates FROM threads t JOIN log l ON l.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND l.checkpoint_id > $3 ORDER BY l.checkpoint_id LIMIT $4
