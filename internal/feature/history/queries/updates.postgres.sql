SELECT l.checkpoint_id, l.updates FROM threads t JOIN log l ON l.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND l.checkpoint_id IN (SELECT json_array_elements_text(CAST($3 AS JSON)))
