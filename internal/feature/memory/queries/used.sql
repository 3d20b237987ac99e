-- The fact was told, at $3.
UPDATE memory_facts SET used_at = $3, uses = (SELECT count(*) FROM memory_uses u WHERE u.user_id = memory_facts.user_id AND u.fact_id = memory_facts.id)
WHERE user_id = $1 AND id = $2
