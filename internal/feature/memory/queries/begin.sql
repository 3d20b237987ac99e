-- Nothing is written if another has written since the revision $5.
INSERT INTO memory_docs (user_id, revision, updated_at, body) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision, updated_at = excluded.updated_at, body = excluded.body
WHERE memory_docs.revision = $5
