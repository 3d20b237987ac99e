-- A thread that is in another folder leaves that one.
INSERT INTO folder_threads (user_id, thread_id, folder_id, put_at)
SELECT $1, t.id, f.id, CAST($4 AS BIGINT) FROM threads t JOIN folders f ON f.user_id = t.user_id AND f.id = $3
WHERE t.user_id = $1 AND t.id = $2 AND t.root_id = ''
ON CONFLICT (thread_id) DO UPDATE SET folder_id = excluded.folder_id, put_at = excluded.put_at
