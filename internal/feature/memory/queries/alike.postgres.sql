-- The active facts for an agent and for a folder that have the most of some terms, the newest of them.
SELECT f.id, f.seq, f.status, f.agent, f.folder_id, f.thread_id, f.category, f.confidence, f.revision, f.created_at, f.updated_at, f.gone_at, f.used_at, f.uses, f.body, f.content
FROM memory_facts f JOIN (
    SELECT t.seq, count(*) AS n FROM memory_terms t WHERE t.user_id = $1 AND t.term IN (SELECT json_array_elements_text(CAST($4 AS JSON))) GROUP BY t.seq
) s ON s.seq = f.seq
WHERE f.user_id = $1 AND f.status = 'active' AND (f.agent = '' OR f.agent = $2) AND (f.folder_id IS NULL OR f.folder_id = $3)
ORDER BY s.n DESC, f.seq DESC LIMIT $5
