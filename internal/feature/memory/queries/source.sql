-- What was said in a thread that is gone, or another user's, is not kept.
INSERT INTO memory_sources (user_id, fact_id, message_id, thread_id, at, words)
SELECT $1, $2, $3, t.id, CAST($5 AS BIGINT), $6 FROM threads t WHERE t.user_id = $1 AND t.id = $4
ON CONFLICT (user_id, fact_id, message_id) DO UPDATE SET at = excluded.at, words = excluded.words
