-- Those of a status, or of all for an empty one, behind the id $3.
SELECT id, seq, status, agent, folder_id, thread_id, category, confidence, revision, created_at, updated_at, gone_at, used_at, uses, body, content
FROM memory_facts WHERE user_id = $1 AND ($2 = '' OR status = $2) AND id > $3 ORDER BY id LIMIT $4
