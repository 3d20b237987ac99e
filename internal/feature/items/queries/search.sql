-- Those under a prefix, from $3 to $4, the last updated first. The condition on the namespace is none for an index, so that
-- the one by time is taken: rows come in its order without being put aside, with their values, to be sorted.
SELECT namespace, key, created_at, updated_at, ttl, expires_at, value FROM items
WHERE user_id = $1 AND (expires_at = 0 OR expires_at > $2) AND namespace || '' >= $3 AND namespace || '' < $4
ORDER BY updated_at DESC, namespace DESC, key DESC
LIMIT $5 OFFSET $6
