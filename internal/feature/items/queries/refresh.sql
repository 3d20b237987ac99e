-- What is over is left alone, and what another read has prolonged further.
UPDATE items SET expires_at = CAST($4 AS BIGINT) + ttl
WHERE user_id = $1 AND namespace = $2 AND key = $3 AND expires_at > $4 AND expires_at < CAST($4 AS BIGINT) + ttl
