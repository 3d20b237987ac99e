INSERT INTO history (thread_id, seq, op, message_id, kind, run_id, checkpoint_id, n, base, prev, turn, call, millis, tokens, created_at, model)
SELECT t.id, CAST(e.value ->> 0 AS BIGINT), e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5,
    CAST(e.value ->> 6 AS BIGINT), CAST(e.value ->> 7 AS BIGINT), CAST(e.value ->> 8 AS BIGINT), CAST(e.value ->> 9 AS BIGINT),
    CAST(e.value ->> 10 AS BIGINT), CAST(e.value ->> 11 AS BIGINT), CAST(e.value ->> 12 AS BIGINT), CAST(e.value ->> 13 AS BIGINT), e.value ->> 14
FROM threads t, json_array_elements(CAST($3 AS JSON)) e WHERE t.user_id = $1 AND t.id = $2
