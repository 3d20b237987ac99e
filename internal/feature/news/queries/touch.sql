-- Something about a thread has changed that is no part of it, at $3.
UPDATE news SET
    number = CASE WHEN CAST($3 AS BIGINT) > (SELECT max(n.number) FROM news n WHERE n.user_id = $1) THEN CAST($3 AS BIGINT)
        ELSE (SELECT max(n.number) FROM news n WHERE n.user_id = $1) + 1 END
WHERE user_id = $1 AND thread_id = $2 AND gone_at = 0
