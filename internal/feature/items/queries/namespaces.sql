SELECT DISTINCT namespace FROM items
WHERE user_id = $1 AND (expires_at = 0 OR expires_at > $2) AND namespace >= $3 AND namespace < $4
ORDER BY namespace
