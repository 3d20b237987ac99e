-- The threads in a state that asks for a look, at most $3 rows, the last changed first.
SELECT n.number, n.thread_id, n.state, n.read_at, n.gone_at, t.title, t.created_at, t.updated_at, t.metadata, t.marks
FROM news n JOIN threads t ON t.id = n.thread_id AND t.user_id = n.user_id AND t.marks < 4
WHERE n.user_id = $1 AND n.state = $2 AND n.state <> '' ORDER BY n.number DESC LIMIT $3
