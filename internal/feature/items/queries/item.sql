SELECT namespace, key, created_at, updated_at, ttl, expires_at, value FROM items
WHERE user_id = $1 AND namespace = $2 AND key = $3 AND (expires_at = 0 OR expires_at > $4)
