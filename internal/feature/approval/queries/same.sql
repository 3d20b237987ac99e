SELECT id, tool, pattern, exact, thread_id, via, given_at, used_at, uses, revoked_at FROM grants
WHERE user_id = $1 AND tool = $2 AND pattern = $3 AND exact = $4 AND COALESCE(thread_id, '') = $5 AND revoked_at = 0
