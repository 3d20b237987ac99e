-- The newest checkpoint of a run.
SELECT l.checkpoint_id FROM runs r JOIN log l ON l.run_id = r.id
WHERE r.user_id = $1 AND r.id = $2 AND l.last_n > 0 AND l.checkpoint_id IS NOT NULL ORDER BY l.attempt DESC, l.last_n DESC LIMIT 1
