SELECT seq, at, body FROM skill_history WHERE user_id = $1 AND name = $2 ORDER BY seq
