INSERT INTO history (thread_id, seq, op, message_id, kind, run_id, checkpoint_id, n, base, prev, turn, call, millis, tokens, created_at, model)
SELECT t.id, e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6,
    e.value ->> 7, e.value ->> 8, e.value ->> 9, e.value ->> 10, e.value ->> 11, e.value ->> 12, e.value ->> 13, e.value ->> 14
FROM threads t, json_each($3) e WHERE t.user_id = $1 AND t.id = $2
