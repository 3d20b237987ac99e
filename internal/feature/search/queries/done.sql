INSERT INTO search_threads (user_id, thread_id, head, title)
SELECT $1, t.id, $3, $4 FROM threads t WHERE t.user_id = $1 AND t.id = $2
ON CONFLICT (thread_id) DO UPDATE SET head = excluded.head, title = excluded.title
