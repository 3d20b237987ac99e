SELECT at, body FROM skill_refusals WHERE user_id = $1 ORDER BY seq DESC
