SELECT name, digest, created_at, updated_at, body FROM skills WHERE user_id = $1 ORDER BY name
