-- The marks of a thread, and the folder that it is in.
SELECT t.marks, COALESCE(f.folder_id, '') FROM threads t LEFT JOIN folder_threads f ON f.thread_id = t.id WHERE t.user_id = $1 AND t.id = $2
