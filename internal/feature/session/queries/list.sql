SELECT id, token, agent, created_at, ends_at FROM sessions WHERE user_id = $1 AND ends_at > $2
ORDER BY ends_at DESC, id DESC LIMIT $3
