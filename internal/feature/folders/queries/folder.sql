-- The count is of the threads that are in lists.
SELECT f.id, f.name, f.colour, f.created_at, f.updated_at, f.instructions,
    (SELECT count(*) FROM folder_threads p JOIN threads t ON t.id = p.thread_id AND t.user_id = p.user_id AND t.marks = 0
        WHERE p.user_id = f.user_id AND p.folder_id = f.id)
FROM folders f WHERE f.user_id = $1 AND f.id = $2
