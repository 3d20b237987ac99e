-- Of a fact, or of all for an empty id, the newest first, before $3.
SELECT seq, at, fact_id, batch, act, why, body FROM memory_history
WHERE user_id = $1 AND ($2 = '' OR fact_id = $2) AND seq < $3 ORDER BY seq DESC LIMIT $4
