-- What has changed after $2, at most $3 rows, the oldest change first. What is in the bin (a mark from 4 on) is gone.
SELECT n.number, n.thread_id, n.state, n.read_at, n.gone_at, COALESCE(t.title, ''), COALESCE(t.created_at, 0),
    COALESCE(t.updated_at, 0), t.metadata, COALESCE(t.marks, 0)
FROM news n LEFT JOIN threads t ON t.id = n.thread_id AND t.user_id = n.user_id AND t.marks < 4
WHERE n.user_id = $1 AND n.number > $2 ORDER BY n.number LIMIT $3
