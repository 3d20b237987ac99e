SELECT max(version) FROM assistants WHERE user_id = $1 AND id = $2
