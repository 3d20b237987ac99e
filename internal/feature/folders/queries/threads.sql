SELECT thread_id FROM folder_threads WHERE user_id = $1 AND folder_id = $2 ORDER BY put_at DESC, thread_id LIMIT $3
