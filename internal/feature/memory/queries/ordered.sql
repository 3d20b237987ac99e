-- The active facts for an agent and for a folder, the oldest first, or with a $4 of -1 the newest.
SELECT id, seq, status, agent, folder_id, thread_id, category, confidence, revision, created_at, updated_at, gone_at, used_at, uses, body, content
FROM memory_facts WHERE user_id = $1 AND status = 'active' AND (agent = '' OR agent = $2) AND (folder_id IS NULL OR folder_id = $3)
ORDER BY CAST($4 AS BIGINT) * seq LIMIT $5
