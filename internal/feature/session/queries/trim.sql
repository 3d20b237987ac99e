-- Sessions of a token that have ended, and those behind the $4 that were used last.
DELETE FROM sessions WHERE user_id = $1 AND token = $2 AND (ends_at <= $3 OR id NOT IN (
    SELECT id FROM sessions WHERE user_id = $1 AND token = $2 ORDER BY ends_at DESC, id DESC LIMIT $4))
