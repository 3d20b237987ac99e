SELECT seq, at, fact_id, batch, act, why, body FROM memory_history WHERE user_id = $1 AND batch = $2 ORDER BY seq DESC
