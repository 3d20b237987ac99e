INSERT INTO sessions (user_id, id, token, seal, created_at, ends_at, agent) VALUES ($1, $2, $3, $4, $5, $6, $7)
