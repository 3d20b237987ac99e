-- What was done to messages.
SELECT h.message_id, h.seq, h.op FROM threads t JOIN history h ON h.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND h.message_id IN (SELECT value FROM json_each($3))
