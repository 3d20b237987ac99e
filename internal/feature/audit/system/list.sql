SELECT id, at, who, role, via, verb, what, object, refused, times, request FROM audit
WHERE at >= $1 AND ($2 = '' OR who = $2) ORDER BY at DESC, id DESC LIMIT $3 OFFSET $4
