-- A grant for a thread needs one of the user that no run hides. One that says the same is left as it is.
INSERT INTO grants (user_id, id, tool, pattern, exact, thread_id, via, given_at, used_at, uses, revoked_at)
SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), NULLIF($6, ''), $7, CAST($8 AS BIGINT), 0, 0, 0
WHERE ($6 = '' OR EXISTS (SELECT 1 FROM threads t WHERE t.user_id = $1 AND t.id = $6 AND t.root_id = ''))
ON CONFLICT DO NOTHING
