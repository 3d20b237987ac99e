-- Threads in a folder of another user than their own.
SELECT f.thread_id FROM folder_threads f JOIN threads t ON t.id = f.thread_id WHERE t.user_id <> f.user_id ORDER BY f.thread_id
