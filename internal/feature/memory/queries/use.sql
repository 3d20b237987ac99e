-- A thread was told of a fact.
INSERT INTO memory_uses (user_id, fact_id, thread_id, at)
SELECT $1, f.id, t.id, CAST($4 AS BIGINT) FROM threads t JOIN memory_facts f ON f.user_id = t.user_id AND f.id = $2 WHERE t.user_id = $1 AND t.id = $3
ON CONFLICT (user_id, fact_id, thread_id) DO UPDATE SET at = excluded.at
