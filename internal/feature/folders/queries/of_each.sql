-- The folders of threads.
SELECT t.thread_id, t.folder_id FROM folder_threads t JOIN folders f ON f.user_id = t.user_id AND f.id = t.folder_id
WHERE t.user_id = $1 AND t.thread_id IN (SELECT value FROM json_each($2))
