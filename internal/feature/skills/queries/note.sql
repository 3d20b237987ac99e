INSERT INTO skill_history (user_id, name, seq, at, body) VALUES ($1, $2, $3, $4, $5)
