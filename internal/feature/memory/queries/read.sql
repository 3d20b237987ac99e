-- A thread that is gone, or another user's, was not read.
INSERT INTO memory_reads (user_id, thread_id, at, body)
SELECT $1, t.id, CAST($3 AS BIGINT), $4 FROM threads t WHERE t.user_id = $1 AND t.id = $2
ON CONFLICT (thread_id) DO UPDATE SET at = excluded.at, body = excluded.body
