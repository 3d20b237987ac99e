-- Grants for a thread of another user than their own.
SELECT g.id FROM grants g JOIN threads t ON t.id = g.thread_id WHERE t.user_id <> g.user_id ORDER BY g.id
