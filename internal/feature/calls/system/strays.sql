SELECT user_id, digest FROM call_parts WHERE length(digest) <> 16 ORDER BY user_id, digest
