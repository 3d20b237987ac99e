-- Who has read the same in the meantime has written the same.
UPDATE history_heads SET checkpoint_id = $4, run_id = $5, seq = $6, prev = $7, turn = $8, turns = $9, calls = $10,
    read_at = $11
WHERE thread_id = (SELECT t.id FROM threads t WHERE t.user_id = $1 AND t.id = $2) AND checkpoint_id = $3
