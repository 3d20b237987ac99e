SELECT user_id, namespace, key, value FROM items ORDER BY user_id, namespace, key
