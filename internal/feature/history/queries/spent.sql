-- The runs of a thread, and those below them.
SELECT r.id, r.root_id, r.status, COALESCE(r.usage, '') FROM runs r
WHERE r.user_id = $1 AND (r.thread_id = $2 OR r.root_id IN (SELECT o.id FROM runs o WHERE o.user_id = $1 AND o.thread_id = $2))
ORDER BY r.created_at, r.id
