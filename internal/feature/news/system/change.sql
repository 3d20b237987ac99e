-- Something is new on a thread: $3 is the time, $4 the state or NULL, which leaves that as it is. A thread whose next run waits
-- already is running; what is said to one that asks waits for the answer.
INSERT INTO news (user_id, thread_id, number, state, read_at, gone_at)
VALUES ($1, $2,
    CASE WHEN CAST($3 AS BIGINT) > COALESCE((SELECT max(n.number) FROM news n WHERE n.user_id = $1), 0) THEN CAST($3 AS BIGINT)
        ELSE (SELECT max(n.number) FROM news n WHERE n.user_id = $1) + 1 END,
    CASE WHEN EXISTS (SELECT 1 FROM runs WHERE thread_id = $2 AND status = 'pending' AND NOT
        (steers <> '' AND attempt = 0 AND not_before >= 253402300799000000)) THEN 'running'
        ELSE COALESCE(CAST($4 AS TEXT), '') END,
    0, 0)
ON CONFLICT (user_id, thread_id) DO UPDATE SET
    number = excluded.number,
    state = CASE WHEN CAST($4 AS TEXT) IS NULL THEN news.state ELSE excluded.state END,
    gone_at = 0
