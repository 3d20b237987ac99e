SELECT h.thread_id FROM history_heads h
WHERE h.checkpoint_id <> '' AND NOT EXISTS
    (SELECT 1 FROM log l WHERE l.thread_id = h.thread_id AND l.checkpoint_id = h.checkpoint_id)
ORDER BY h.thread_id
