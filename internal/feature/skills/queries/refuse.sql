INSERT INTO skill_refusals (user_id, seq, at, body) VALUES ($1, $2, $3, $4)
