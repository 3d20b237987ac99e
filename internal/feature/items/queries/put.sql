-- An item that is over, but still there, gets the time of its beginning anew: to readers it is a new one.
INSERT INTO items (user_id, namespace, key, created_at, updated_at, ttl, expires_at, value)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (user_id, namespace, key) DO UPDATE SET
    updated_at = excluded.updated_at, ttl = excluded.ttl, expires_at = excluded.expires_at, value = excluded.value,
    created_at = CASE WHEN items.expires_at > 0 AND items.expires_at <= excluded.updated_at
        THEN excluded.created_at ELSE items.created_at END
