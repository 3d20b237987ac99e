-- The list as an array is looked up row by row; as a set it is compared with all facts there are.
SELECT id, seq, status, agent, folder_id, thread_id, category, confidence, revision, created_at, updated_at, gone_at, used_at, uses, body, content
FROM memory_facts WHERE user_id = $1 AND seq = ANY (ARRAY(SELECT CAST(json_array_elements_text(CAST($2 AS JSON)) AS BIGINT))) ORDER BY seq DESC
