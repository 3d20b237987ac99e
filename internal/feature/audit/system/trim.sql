-- Rows behind the newest $1.
DELETE FROM audit WHERE at < (SELECT at FROM audit ORDER BY at DESC LIMIT 1 OFFSET $1)
