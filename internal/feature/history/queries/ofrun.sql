-- The rows of a run: from its first on to where those of another begin.
SELECT r.seq, COALESCE((SELECT min(x.seq) FROM history x WHERE x.thread_id = t.id AND x.op = 'run' AND x.seq > r.seq), 0)
FROM threads t JOIN history r ON r.thread_id = t.id AND r.op = 'run'
WHERE t.user_id = $1 AND t.id = $2 AND r.run_id = $3 ORDER BY r.seq DESC LIMIT 1
