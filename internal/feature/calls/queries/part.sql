SELECT body FROM call_parts WHERE user_id = $1 AND digest = $2
