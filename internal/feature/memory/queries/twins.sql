-- The facts that have the term $2.
SELECT id, seq, status, agent, folder_id, thread_id, category, confidence, revision, created_at, updated_at, gone_at, used_at, uses, body, content
FROM memory_facts WHERE user_id = $1 AND seq IN (SELECT t.seq FROM memory_terms t WHERE t.user_id = $1 AND t.term = $2)
