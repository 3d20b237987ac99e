-- What the answers of each run took, by model.
SELECT h.run_id, h.model, sum(h.tokens) FROM threads t JOIN history h ON h.thread_id = t.id
WHERE t.user_id = $1 AND t.id = $2 AND h.op = 'append' AND h.model <> '' GROUP BY h.run_id, h.model ORDER BY h.run_id, h.model
