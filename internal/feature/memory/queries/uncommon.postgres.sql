-- Which of some terms are those of facts, but of fewer than $3; at most $4 of them, in the order in which they were given.
SELECT w.value FROM json_array_elements_text(CAST($2 AS JSON)) WITH ORDINALITY w (value, at)
WHERE (SELECT count(*) FROM (SELECT 1 FROM memory_terms t WHERE t.user_id = $1 AND t.term = w.value LIMIT $3) c) BETWEEN 1 AND CAST($3 AS BIGINT) - 1
ORDER BY w.at LIMIT $4
