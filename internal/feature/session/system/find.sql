-- It is what says who the user is.
SELECT user_id, token, seal, ends_at FROM sessions WHERE id = $1 AND ends_at > $2
