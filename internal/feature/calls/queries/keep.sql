-- A part that is there already is used once more.
INSERT INTO call_parts (user_id, digest, used_at, body) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, digest) DO UPDATE SET used_at = excluded.used_at
