-- At least the facts that were made of others, or are to replace one.
SELECT id, seq, status, agent, folder_id, thread_id, category, confidence, revision, created_at, updated_at, gone_at, used_at, uses, body, content
FROM memory_facts WHERE user_id = $1 AND (body LIKE '%"from":%' OR body LIKE '%"replaces":%')
