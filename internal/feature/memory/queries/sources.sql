SELECT s.thread_id, t.title, s.message_id, s.at, s.words FROM memory_sources s JOIN threads t ON t.id = s.thread_id
WHERE s.user_id = $1 AND s.fact_id = $2 ORDER BY s.at DESC, s.message_id LIMIT 20
