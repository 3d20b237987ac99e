-- The active facts for an agent in a folder, the least sure first, of them the oldest.
SELECT id, seq, status, agent, folder_id, thread_id, category, confidence, revision, created_at, updated_at, gone_at, used_at, uses, body, content
FROM memory_facts WHERE user_id = $1 AND status = 'active' AND agent = $2 AND COALESCE(folder_id, '') = $3 ORDER BY confidence, seq LIMIT $4
