SELECT id, tool, pattern, exact, thread_id, via, given_at, used_at, uses, revoked_at FROM grants
WHERE user_id = $1 AND (revoked_at = 0 OR $2 = 1) ORDER BY given_at DESC, id DESC LIMIT $3 OFFSET $4
