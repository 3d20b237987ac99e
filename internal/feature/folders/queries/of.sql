SELECT f.id, f.name, f.colour, f.created_at, f.updated_at, f.instructions
FROM folder_threads t JOIN folders f ON f.user_id = t.user_id AND f.id = t.folder_id WHERE t.user_id = $1 AND t.thread_id = $2
