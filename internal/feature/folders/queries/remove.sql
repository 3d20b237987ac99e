DELETE FROM folder_threads WHERE user_id = $1 AND folder_id = $2 AND thread_id = $3
