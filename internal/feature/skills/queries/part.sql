INSERT INTO skill_parts (user_id, digest, n, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT (user_id, digest, n) DO NOTHING
