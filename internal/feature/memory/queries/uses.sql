SELECT u.thread_id, t.title, u.at FROM memory_uses u JOIN threads t ON t.id = u.thread_id
WHERE u.user_id = $1 AND u.fact_id = $2 ORDER BY u.at DESC, u.thread_id LIMIT 20
