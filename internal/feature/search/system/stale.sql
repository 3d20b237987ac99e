-- Threads that were changed since they were indexed, or never were, the oldest first, behind the one that was changed at $1 and has
-- the id $2; those of the user $3 alone if that is no empty text.
SELECT t.id, t.user_id, t.updated_at FROM threads t LEFT JOIN search_threads s ON s.thread_id = t.id
WHERE t.root_id = '' AND (s.thread_id IS NULL OR s.head <> t.head OR s.title <> t.title)
AND (t.updated_at > $1 OR t.updated_at = $1 AND t.id > $2) AND ($3 = '' OR t.user_id = $3)
ORDER BY t.updated_at, t.id LIMIT 100
