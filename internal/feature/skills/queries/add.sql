INSERT INTO skills (user_id, name, digest, created_at, updated_at, body) VALUES ($1, $2, $3, $4, $4, $5)
ON CONFLICT (user_id, name) DO NOTHING
