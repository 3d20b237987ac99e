UPDATE grants SET used_at = $3, uses = uses + 1 WHERE user_id = $1 AND id = $2 AND revoked_at = 0
