INSERT INTO memory_facts (user_id, id, seq, status, agent, folder_id, thread_id, category, confidence, revision, created_at, updated_at, gone_at, used_at, uses, body, content)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
ON CONFLICT (user_id, id) DO UPDATE SET status = excluded.status, agent = excluded.agent, folder_id = excluded.folder_id, thread_id = excluded.thread_id,
    category = excluded.category, confidence = excluded.confidence, revision = excluded.revision, created_at = excluded.created_at,
    updated_at = excluded.updated_at, gone_at = excluded.gone_at, body = excluded.body,
    content = excluded.content
