-- What was written down of a fact.
DELETE FROM memory_history WHERE user_id = $1 AND fact_id = $2
