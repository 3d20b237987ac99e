-- A thread was deleted at $3.
INSERT INTO news (user_id, thread_id, number, state, read_at, gone_at)
VALUES ($1, $2,
    CASE WHEN CAST($3 AS BIGINT) > COALESCE((SELECT max(n.number) FROM news n WHERE n.user_id = $1), 0) THEN CAST($3 AS BIGINT)
        ELSE (SELECT max(n.number) FROM news n WHERE n.user_id = $1) + 1 END,
    '', 0, CAST($3 AS BIGINT))
ON CONFLICT (user_id, thread_id) DO UPDATE SET
    number = excluded.number, state = '', read_at = 0, gone_at = excluded.gone_at
