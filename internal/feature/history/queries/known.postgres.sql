SELECT h.message_id, h.seq, h.op FROM threads t JOIN history h ON h.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND h.message_id IN (SELECT json_array_elements_text(CAST($3 AS JSON)))
